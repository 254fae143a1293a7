"""Comments by which people keep a rule away from a line: `# devfix: ignore[pack/name] reason`."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from devfix.model import Edit

COMMENT = re.compile(r"#\s*devfix:\s*ignore\[([^\]]*)\]\s*(.*)")


def ignored(data: bytes, rule: str) -> dict[int, str]:
    """The lines from which a file keeps a rule away, each with the reason that the comment gives ("" where none).

    A comment speaks of the statement it stands in, else of the next one; it names rules or packs, parted by commas.
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


def touched(edit: Edit) -> Sequence[int]:
    """The lines of the file before an edit that it changes, removes, or inserts something in front of."""
    old, new = edit.before.splitlines(), edit.after.splitlines()
    found: list[int] = []
    for tag, start, stop, _, _ in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            found += range(start + 1, max(stop, start + 1) + 1)
    return found
