"""What is to be read: files, folders, object stores, and what of it is new.

It imports storage and settings.
"""
