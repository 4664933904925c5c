"""What all errors have in common that a user can mend."""


class ExpectedError(Exception):
    """Something around the program is wrong, not the program: shown as a message with its remedy, without a traceback.

    OSError is expected too. One that is a LookupError or a ValueError as well lies in what was asked for.
    """
