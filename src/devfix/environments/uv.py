"""The command uv: where it is, and how it is run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from devfix.environments.declared.requirement import hide_credentials
from devfix.errors import UserError
from devfix.process import Completed, child_environment, run

EXTRA = "environments"
TIMEOUT = 3600.0  # seconds for one call: a source distribution may take long to build
# uv neither downloads interpreters nor takes an active environment for the one to change.
_FIXED = {"UV_PYTHON_DOWNLOADS": "never", "UV_NO_PROGRESS": "1", "NO_COLOR": "1"}
_LEFT_OUT = ("VIRTUAL_ENV", "CONDA_PREFIX", "UV_PROJECT_ENVIRONMENT", "UV_PYTHON", "PYTHONPATH", "PYTHONHOME")


class Uv:
    """uv in one folder, whose pyproject.toml and the user's own configuration it reads.

    Without `builds` it must not be the folder of a repository: `only_wheels` are then the options of each command that
    resolves or installs.
    """

    def __init__(self, folder: Path, builds: bool = True) -> None:
        """Find uv beside devfix, or on the PATH. Raises UserError if there is none."""
        self.folder, self.program = folder, _find()
        # uv builds editable projects in spite of `--no-build`; only sources of `tool.uv` can name one.
        self.only_wheels = () if builds else ("--no-build", "--no-sources")
        # The interpreter that compiles runs what packages have added to its start.
        self._variables = {} if builds else {"UV_NO_BUILD": "1", "UV_COMPILE_BYTECODE": "0"}

    def run(self, *arguments: str, variables: Sequence[tuple[str, str]] = ()) -> Completed:
        """Run uv. Build back ends that it starts see no variables with credentials."""
        kept = {name: value for name, value in child_environment().items() if name not in _LEFT_OUT}
        environment = {**kept, **_FIXED, **self._variables, **dict(variables)}
        return run((self.program, *arguments), self.folder, environment, TIMEOUT)


def _find() -> str:
    try:
        from uv import find_uv_bin

        program = find_uv_bin()
    except (ImportError, OSError):
        program = shutil.which("uv") or ""
    if not program or not os.access(program, os.X_OK):
        raise UserError(
            f"uv is not installed, which builds environments: pip install '.[{EXTRA}]' in a clone of devfix"
        )
    return program


def error_text(done: Completed) -> str:
    """Return what uv reports of a failure, without the frames that some of its versions draw."""
    if done.timed_out:
        return f"uv did not end within {TIMEOUT:g} seconds"
    lines = (line.strip().lstrip("×├╰│─▶ ").strip() for line in done.stderr.splitlines())
    return (
        "\n".join(hide_credentials(line) for line in lines if line)
        or done.internal_error
        or f"uv ended with {done.exit_code}"
    )
