"""Every prompt, a file each, and the one place where their slots are filled.

It imports storage records only.
"""
