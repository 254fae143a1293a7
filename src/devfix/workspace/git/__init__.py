"""Git commands, repositories and remotes, through GitPython."""

from devfix.errors import UserError

NO_GIT = "git is not on the PATH: install git 2.30 or newer"

try:
    import git  # noqa: F401
except ModuleNotFoundError:
    raise
except ImportError as error:  # its import asks git for the version, and fails without git
    raise UserError(NO_GIT) from error
