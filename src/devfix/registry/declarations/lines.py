"""Find the line of a TOML document at which a value is, which its parser does not report."""

from __future__ import annotations

import re

HEADER = re.compile(r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
KEY = re.compile(r"\s*([\w-]+|\"[^\"]*\")\s*(?:\.\s*[\w-]+\s*)*=")
STEP = re.compile(r"\[(\d+)\]|\[(?:\.\.\.)\]|\.?([\w-]+)")


def line_at(text: str, path: str) -> int:
    """Return the line of `$.fix[1].replace`, else that of the innermost part that has one; 1 if none has.

    >>> line_at('title = "x"\\n\\n[[fix]]\\nat = "use"\\n\\n[[fix]]\\nedit = "none"\\n', "$.fix[1].edit")
    7
    """
    lines = _lines(text)
    parts = [f"[{each[1]}]" if each[1] else f".{each[2]}" for each in STEP.finditer(path.removeprefix("$")) if each[0]]
    for count in range(len(parts), 0, -1):
        if found := lines.get("".join(parts[:count])):
            return found
    return 1


def _lines(text: str) -> dict[str, int]:
    """Return the lines of tables and keys by their paths."""
    lines: dict[str, int] = {}
    counts: dict[str, int] = {}
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        if header := HEADER.match(line):
            table = "." + re.sub(r"\s*\.\s*", ".", header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table += f"[{counts[table]}]"
            lines.setdefault(table, number)
            lines.setdefault(table.partition("[")[0], number)
        elif key := KEY.match(line):
            lines.setdefault(f"{table}.{key[1].strip(chr(34))}", number)
    return lines
