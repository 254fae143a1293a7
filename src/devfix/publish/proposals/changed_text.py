"""Check what a change adds to a file: a reader of the diff must see what the interpreter sees."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections import Counter

# Controls that a terminal or a browser obeys or does not show, and that reorder text (CVE-2021-42574). Not line feeds,
# tabs, form feeds, and carriage returns at the end of a line.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]|\r(?!\n|$)"
)


def objection(before: bytes, after: bytes) -> str:
    """Return why a change of a Python file from `before` to `after` is not published, "" if nothing speaks against it.

    It must not add characters that are not shown, change the file's encoding, or make it unparsable. What the file had
    already is no objection.
    """
    encoding = _encoding(before)
    if _encoding(after) != encoding:
        return "it changes the encoding of the file"
    old, new = before.decode(encoding, "replace"), after.decode(encoding, "replace")
    added = Counter(_UNSEEN.findall(new)) - Counter(_UNSEEN.findall(old))
    if added:
        names = ", ".join(f"U+{ord(character):04X}" for character in sorted(added))
        return f"it adds characters that are not shown ({names})"
    if _parses(before) and not _parses(after):
        return "with it the file is not valid Python"
    return ""


def _encoding(source: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(source).readline)[0]
    except (SyntaxError, LookupError):
        return "latin-1"


def _parses(source: bytes) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in strings, on standard error
            ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
