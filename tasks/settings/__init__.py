"""Every tuned number, once: settings that users turn, the record of the method, the names that the environment may hold.

It imports records only; every stage imports it.
"""
