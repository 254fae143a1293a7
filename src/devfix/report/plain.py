"""Escape text that comes from a program before a terminal shows it."""

from __future__ import annotations

import re

# C0, C1 and DEL drive terminals; the bidirectional controls and the invisible format characters make shown code differ
# from what the compiler reads (CVE-2021-42574); lone surrogates cannot be encoded.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]"
)
_INSTALLED = re.compile(r"^/.*?/(?:(?:site|dist)-packages|lib/python3\.\d+)/(?:site-packages/)?")


def plain(text: str) -> str:
    """Return `text` with every control and invisible character escaped; newlines and tabs stay.

    >>> plain("\\x1b[31mred\\x07")
    '\\\\x1b[31mred\\\\x07'
    """
    return _UNSAFE.sub(_spell, text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 300) -> str:
    """Return `text` as one line of at most `limit` characters, with control characters escaped."""
    line = plain(" ".join(text.split()))
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def short_path(path: str) -> str:
    """Return a path, shortened to the part from the package on if the file is installed.

    >>> short_path("/home/ann/.venv/lib/python3.11/site-packages/torch/nn/functional.py")
    'torch/nn/functional.py'
    """
    return plain(_INSTALLED.sub("", path))


def tail(text: str, lines: int, limit: int = 8000) -> str:
    """Return the last `lines` lines of `text`, escaped, and at most about `limit` characters of them."""
    kept = text[-limit:].rstrip("\n").split("\n")[-lines:]
    return plain("\n".join(kept))


def _spell(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
