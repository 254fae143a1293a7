"""Comments that suppress rules at a line: `# devfix: ignore[pack/name] reason`."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from devfix.model import Edit

COMMENT = re.compile(r"#\s*devfix:\s*ignore\[([^\]]*)\]\s*(.*)")


def find_suppressions(data: bytes, rule: str) -> dict[int, str]:
    """Return the lines at which a file suppresses a rule, each with the comment's reason ("" if it has none).

    A comment applies to the statement it is in, else to the next one. It names rules or packs, separated by commas.
    """
    if b"devfix:" not in data:
        return {}
    lines: dict[int, str] = {}
    for start, stop, comments in _statements(data):
        for comment in comments:
            match = COMMENT.search(comment)
            names = [name.strip() for name in match[1].split(",")] if match else []
            if match and (rule in names or rule.split("/")[0] in names):
                lines.update(dict.fromkeys(range(start, stop + 1), match[2].strip()))
    return lines


def _statements(data: bytes) -> Iterator[tuple[int, int, list[str]]]:
    """Yield each logical line with the comments in and directly above it, as (first line, last line, comments)."""
    start, comments = 0, list[str]()
    try:
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            if token.type == tokenize.COMMENT:
                comments.append(token.string)
            elif token.type == tokenize.NEWLINE:
                yield start or token.start[0], token.start[0], comments
                start, comments = 0, []
            elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING) and not start:
                start = token.start[0]
    except (tokenize.TokenError, SyntaxError, UnicodeDecodeError):
        return


def list_touched_lines(edit: Edit) -> Sequence[int]:
    """Return the lines of the file before an edit that it changes, removes, or inserts something before."""
    old, new = edit.before.splitlines(), edit.after.splitlines()
    found: list[int] = []
    for tag, start, stop, _, _ in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            found += range(start + 1, max(stop, start + 1) + 1)
    return found
