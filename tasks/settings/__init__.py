"""Every tuned number, once: settings that users turn, and the record of the method.

It imports nothing of the other stages.
"""
