"""Lines that IPython understands and Python does not: `%magic`, `!command`, `help?`.

A script holds them as statements of Python with the original behind a mark, so that it parses, keeps its line numbers
and can be changed back.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

_MARK = "  # [IPython] "
_MASKED = re.compile(r"^(?P<indent>[ \t]*)(?:pass|(?:[\w.\[\], *]+ = )None|#)  # \[IPython\] (?P<line>.*)$", re.DOTALL)
# The beginning of a statement.
_ESCAPED = re.compile(r"\s*(%{1,2}[A-Za-z]|!|\?{1,2}\w)")
_HELP = re.compile(r"\s*%{0,2}[\w.*]+\?{1,2}\s*(#.*)?$")
_ASSIGNED = re.compile(r"\s*(?P<names>[\w.\[\], *]+?)\s*=\s*(?:!|%[A-Za-z])")
# Cell magics that run the code below them as Python, in the namespace of the notebook.
_PYTHON = frozenset({"capture", "prun", "time", "timeit"})
_CELL_MAGIC = re.compile(r"%%([A-Za-z_]\w*)")
_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)|(?P<triple>\"\"\"|''')|(?P<quote>["'])|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<rest>\\.|.)""",
    re.DOTALL,
)


def cell_magic(text: str) -> str:
    """Return the name of the cell magic with which a cell begins; "" for a cell of Python."""
    found = _CELL_MAGIC.match(text.lstrip())
    return found[1] if found else ""


def mask_cell(text: str) -> str:
    """Return a cell's text as Python, line by line; a cell that is none is a comment in each line.

    >>> print(mask_cell("%matplotlib inline\\nfiles = !ls\\nx = 1"))
    pass  # [IPython] %matplotlib inline
    files = None  # [IPython] files = !ls
    x = 1
    """
    lines = text.split("\n")
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    magic = cell_magic(text)
    if (magic and magic not in _PYTHON) or "\r" in text:
        return "\n".join(map(_comment, lines))
    shown = list(_lines(lines, first + 1 if magic else 0))
    code = "\n".join(shown)
    return code if _parses(code) else "\n".join(map(_comment, lines))


def unmask_line(line: str) -> str:
    """Return a line of a script as the cell has it.

    >>> unmask_line("files = None  # [IPython] files = !ls")
    'files = !ls'
    """
    found = _MASKED.match(line)
    return found["indent"] + found["line"] if found else line


def is_masked(line: str) -> bool:
    """Return whether a line of a script stands for one that is not Python."""
    return _MASKED.match(line) is not None


def join_commands(lines: list[str]) -> list[str]:
    """Return the lines of a cell with each continued command on one line, and empty lines for what it had of others.

    IPython joins them too, and moves what is below up: line numbers would not be those of the cell.
    """
    begins = list(_beginnings("".join(lines)))
    result, at = list(lines), 0
    while at < len(lines):
        last = (
            end_of_command([line.rstrip("\n") for line in lines], at) if begins[at] and begins_escape(lines[at]) else at
        )
        if last > at:
            parts = [line.rstrip("\n").removesuffix("\\") for line in lines[at : last + 1]]
            result[at] = " ".join(parts) + "\n"
            result[at + 1 : last + 1] = ["\n"] * (last - at)
        at = last + 1
    return result


def end_of_command(lines: list[str], at: int) -> int:
    """Return the last line of an escaped command that begins at one; a backslash continues it."""
    while at < len(lines) - 1 and lines[at].endswith("\\"):
        at += 1
    return at


def begins_escape(line: str) -> bool:
    """Return whether a line, where a statement begins, is none of Python."""
    return any(each.match(line) for each in (_ESCAPED, _HELP, _ASSIGNED))


def _lines(lines: list[str], skip: int) -> Iterator[str]:
    """Yield the lines, with those masked that are no Python; the first `skip` of them are above the code."""
    begins = list(_beginnings("\n".join(["#"] * skip + lines[skip:])))
    at = 0
    while at < len(lines):
        line = lines[at]
        if at < skip:
            yield _comment(line) if line.strip() else line
        elif begins[at] and begins_escape(line):
            last = end_of_command(lines, at)
            yield _statement(line)
            yield from map(_comment, lines[at + 1 : last + 1])
            at = last
        else:
            yield line
        at += 1


def _beginnings(code: str) -> Iterator[bool]:
    """Yield for each line whether a statement may begin there: it is not inside of a string or of brackets."""
    depth, quote = 0, ""
    yield True
    for token in _TOKEN.finditer(code):
        text = token[0]
        if quote:
            if text == quote or (len(quote) == 1 and text == "\n"):
                quote = ""
            elif len(quote) == 1 and token["triple"] and quote in text:
                quote = ""  # it ends, and another string begins and ends or goes on
        elif token["triple"] or token["quote"]:
            quote = text
        elif token["open"]:
            depth += 1
        elif token["close"]:
            depth = max(0, depth - 1)
        for character in text:
            if character == "\n":
                yield not quote and not depth and text != "\\\n"


def _statement(line: str) -> str:
    rest = line.lstrip(" \t")
    indent = line[: len(line) - len(rest)]
    assigned = None if _ESCAPED.match(line) or _HELP.match(line) else _ASSIGNED.match(line)
    stands = f"{assigned['names'].strip()} = None" if assigned else "pass"
    return f"{indent}{stands}{_MARK}{rest}"


def _comment(line: str) -> str:
    return f"#{_MARK}{line.replace(chr(13), '')}"


def _parses(code: str) -> bool:
    try:
        compile(code, "cell", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
