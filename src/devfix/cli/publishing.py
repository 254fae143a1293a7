"""Import what publishing takes, which is an extra."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from devfix.errors import UserError

# The extra in which the client of a forge is; detect-secrets is in each.
_EXTRAS = {"gitlab": "gitlab", "requests": "gitlab", "httpx": "forgejo"}


@contextmanager
def publishing() -> Iterator[None]:
    """Turn a missing package into a UserError that says how to install it."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name == "devfix":
            raise
        from devfix.cli.missing_extras import extra_requirements

        raise UserError(
            f"publishing needs {name}: pip install {extra_requirements(_EXTRAS.get(name, 'publish'))}"
        ) from error
