"""Errors that a person can act on."""


class UserError(Exception):
    """Something a user can mend: the message names the place, the value and the remedy."""


class ConfigError(UserError):
    """The settings cannot be used."""


class DataError(UserError):
    """A file does not hold what it must hold."""
