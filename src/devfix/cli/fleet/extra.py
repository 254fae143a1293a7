"""Say in one line what to install where the packages of `devfix fleet` are missing."""

from __future__ import annotations

from importlib.util import find_spec

from devfix.cli.missing_extras import extra_requirements
from devfix.errors import UserError

_PACKAGES = ("ray", "pyarrow", "duckdb", "yaml", "uv")


def check_extra() -> None:
    """Raise UserError if a package of the extra is not installed."""
    missing = [package for package in _PACKAGES if find_spec(package) is None]
    if missing:
        advice = f"pip install {extra_requirements('fleet')}"
        raise UserError(f"`devfix fleet` needs {', '.join(missing)}, which is not installed: {advice}")
