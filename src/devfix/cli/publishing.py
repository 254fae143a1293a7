"""Import what publishing takes, which is an extra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from devfix.errors import UserError


@contextmanager
def publishing() -> Iterator[None]:
    """Turn a missing package into a UserError that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("devfix"):
            raise
        from devfix.cli.missing_extras import extra_requirements

        raise UserError(f"publishing needs {error.name}: pip install {extra_requirements('publish')}") from error
