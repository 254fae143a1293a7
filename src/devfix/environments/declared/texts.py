"""Read the text files of declarations, whatever encoding and line ends they have."""

from __future__ import annotations

import codecs
import sys
from pathlib import Path
from typing import Any

from devfix.errors import UserError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LARGEST = 20_000_000  # bytes; a lock file of a large workspace has three million
# PowerShell's `pip freeze > requirements.txt` writes UTF-16.
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def read_text(path: Path) -> str:
    """Return a file as text with plain line ends; "" if it is not there, not a file or too large."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return ""
        data = path.read_bytes()
    except OSError:
        return ""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    return data.decode(encoding, "replace").replace("\r\n", "\n").replace("\r", "\n")


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file; none if it is not there. Raises UserError if it is not TOML."""
    try:
        return tomllib.loads(read_text(path))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UserError(f"{path}: not valid TOML ({error}); nothing that it declares can be installed") from error


def table(data: Any, *names: str) -> dict[str, Any]:
    """Return a table within a table by its path; an empty one if there is none."""
    for name in names:
        data = data.get(name) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def strings(value: Any) -> list[str]:
    """Return the strings in a list; none if it is not one."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []
