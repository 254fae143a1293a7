"""Exceptions that devfix raises on purpose."""


class DevfixError(Exception):
    """Base class of all exceptions that devfix raises on purpose."""


class UserError(DevfixError):
    """Wrong usage: the message says in one line what is wrong and how to fix it (exit code 2)."""


class RuleError(DevfixError):
    """A rule that is invalid, raised, or yielded something else than changes; the message names the rule."""


class BudgetSpentError(DevfixError):
    """The time for a repair is over before it has come to its end; nothing was written."""
