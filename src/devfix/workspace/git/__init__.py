"""Git commands, repositories and remotes, through GitPython."""

from devfix.errors import UserError

NO_GIT = "git is not on the PATH: install git 2.30 or newer"

try:
    import git  # noqa: F401
except ModuleNotFoundError:
    raise
except ImportError as error:  # it asks git for its version when it is imported, first of all here
    raise UserError(NO_GIT) from error
