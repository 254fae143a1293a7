"""The errors that devfix raises on purpose."""


class DevfixError(Exception):
    """The ground of all errors raised on purpose."""


class UserError(DevfixError):
    """Wrong usage: the message says in one line what is wrong and how to mend it (exit code 2)."""


class RuleError(DevfixError):
    """A rule is no rule, raised, or yielded nonsense; the message names the rule."""
