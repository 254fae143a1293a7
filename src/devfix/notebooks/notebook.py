"""A notebook and its script: one text of Python for all code cells, and the way back into the notebook's JSON.

A separator line begins each cell of the script, and has its number: `# %% [cell 7]`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from .magics import is_masked, mask_cell, unmask_line
from .reading import Cell, NotebookError, code_cells, writes_ascii

SUFFIX = ".ipynb"
_SEPARATOR = re.compile(r"# %% \[cell (\d+)\]")


def is_notebook(path: str) -> bool:
    """Return whether a path is that of a notebook."""
    return path.endswith(SUFFIX)


def cell_name(path: str, cell: int) -> str:
    """Return how a cell is called in messages and diffs.

    >>> cell_name("ch02.ipynb", 7)
    'ch02.ipynb[cell 7]'
    """
    return f"{path}[cell {cell}]"


def named_cell(name: str) -> tuple[str, int] | None:
    """Return the path and the number of a cell from its name; None for another path.

    >>> named_cell("ch02.ipynb[cell 7]")
    ('ch02.ipynb', 7)
    """
    found = re.fullmatch(r"(.*\.ipynb)\[cell (\d+)\]", name, re.DOTALL)
    return (found[1], int(found[2])) if found else None


@dataclass(frozen=True)
class CellPlace:
    """A line of a script in its cell: the cell's number, and the line of the script with its separator."""

    cell: int
    start: int


class Notebook:
    """A notebook, from the bytes of its file. Raises NotebookError if it cannot be read."""

    def __init__(self, data: bytes) -> None:
        try:
            self._text = data.decode("utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "utf-8")
        except UnicodeDecodeError as error:
            raise NotebookError("it is not UTF-8") from error
        self._data = data
        self.cells, self.metadata = code_cells(self._text)

    @cached_property
    def script(self) -> bytes:
        """The code cells as one text of Python."""
        parts = [(cell.number, self._code(cell)) for cell in self.cells]
        script = "".join(f"# %% [cell {number}]\n{code}\n" for number, code in parts).encode("utf-8", "surrogatepass")
        if list(split_script(script)) != parts:
            raise NotebookError("a cell has a line that reads as the beginning of another: # %% [cell N]")
        return script

    @cached_property
    def starts(self) -> dict[int, int]:
        """The line of the script with the separator of each cell, by the cell's number."""
        starts, line = {}, 1
        for cell in self.cells:
            starts[cell.number] = line
            line += 2 + cell.source.text.count("\n")
        return starts

    def place(self, line: int) -> CellPlace | None:
        """Return the cell with a line of the script."""
        starts = list(self.starts.values())
        at = bisect_right(starts, line) - 1
        return CellPlace(self.cells[at].number, starts[at]) if at >= 0 else None

    def replace_script(self, script: bytes) -> bytes:
        """Return the notebook's bytes with the cells of a changed script.

        Raises NotebookError if cells were joined, split or moved, or if a line was changed that is not Python.
        """
        parts = dict(split_script(settle_cells(self.script, script)))
        text, ascii_only = self._text, writes_ascii(self._text)
        for cell in reversed(self.cells):
            before, after = self._code(cell), parts[cell.number]
            if before != after:
                new = _restore_cell(cell, before, after)
                source = cell.source
                text = text[: source.start] + source.replace_text(new, ascii_only) + text[source.stop :]
        mark = b"\xef\xbb\xbf" if self._data.startswith(b"\xef\xbb\xbf") else b""
        return mark + text.encode("utf-8")

    @staticmethod
    def _code(cell: Cell) -> str:
        return mask_cell(cell.source.text)


def split_script(script: bytes) -> Iterator[tuple[int, str]]:
    """Yield the number and the code of each cell of a script, without the line feed at its end.

    The text above the first separator is that of cell 0, which no notebook has.
    """
    number, lines = 0, list[str]()
    for line in script.decode("utf-8", "surrogatepass").split("\n")[:-1]:
        found = _SEPARATOR.fullmatch(line)
        if found is None:
            lines.append(line)
            continue
        if number or any(each.strip() for each in lines):
            yield number, "\n".join(lines)
        number, lines = int(found[1]), []
    if number:
        yield number, "\n".join(lines)


def settle_cells(before: bytes, after: bytes) -> bytes:
    """Return an edited script in which each new line is in a cell of Python.

    A statement that an edit puts above the first one of a cell stands above its separator, in the cell before, which
    may run something else than Python. Raises NotebookError for an edit that no notebook can have.
    """
    old, new = dict(split_script(before)), dict(split_script(after))
    waiting: list[str] = []
    parts = []
    if [number for number in new if number] != list(old):
        raise NotebookError("an edit may not join, split or move cells")
    for number, code in new.items():
        lines = code.split("\n")
        if number == 0:
            waiting = lines
            continue
        known = old[number].split("\n")
        if all(map(is_masked, known)):
            if lines[: len(known)] != known:
                raise NotebookError(f"cell {number} is not Python")
            waiting, lines = [*waiting, *lines[len(known) :]], known
        else:
            waiting, lines = [], [*waiting, *lines]
        if Counter(filter(is_masked, known)) != Counter(filter(is_masked, lines)):
            raise NotebookError(f"an edit may not change what IPython runs in cell {number}")
        parts.append(f"# %% [cell {number}]\n" + "\n".join(lines) + "\n")
    if any(line.strip() for line in waiting):
        raise NotebookError("there is no cell of Python behind it")
    return "".join(parts).encode("utf-8", "surrogatepass")


def line_in_cell(path: str, line: int, script: bytes) -> str:
    """Return a line of a script as a place in a cell: "ch02.ipynb[cell 7]:3"."""
    above = script.decode("utf-8", "surrogatepass").split("\n")[:line]
    for start in range(len(above), 0, -1):
        if found := _SEPARATOR.fullmatch(above[start - 1]):
            return f"{cell_name(path, int(found[1]))}:{line - start}"
    return f"{path}:{line}"


def changed_cells(before: bytes, after: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield the number of each cell that differs between two scripts, with its text in both as the notebook has it."""
    old, new = dict(split_script(before)), dict(split_script(after))
    for number in [*old, *(each for each in new if each not in old)]:
        texts = [scripts.get(number) for scripts in (old, new)]
        if texts[0] != texts[1]:
            first, second = (b"" if text is None else _cell_text(text) for text in texts)
            yield number, first, second


def cell_source(data: bytes, number: int) -> bytes:
    """Return the text of a cell as diffs have it, from the bytes of a notebook. Raises NotebookError without one."""
    codes = dict(split_script(Notebook(data).script))
    if number not in codes:
        raise NotebookError(f"the notebook has no code in cell {number}")
    return _cell_text(codes[number])


def with_cell(data: bytes, number: int, text: bytes) -> bytes:
    """Return the bytes of a notebook with another text in a cell."""
    notebook = Notebook(data)
    codes = dict(split_script(notebook.script)) | {number: mask_cell(text.decode("utf-8").removesuffix("\n"))}
    return notebook.replace_script(
        "".join(f"# %% [cell {each}]\n{code}\n" for each, code in codes.items()).encode("utf-8")
    )


def _cell_text(code: str) -> bytes:
    lines = "\n".join(map(unmask_line, code.split("\n")))
    return (lines + "\n").encode("utf-8", "surrogatepass")


def _restore_cell(cell: Cell, before: str, after: str) -> str:
    """Return the new text of a cell; lines that are equal in both scripts are those of the cell."""
    lines, old, new = cell.source.text.split("\n"), before.split("\n"), after.split("\n")
    found: list[str] = []
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        found += lines[a:b] if tag == "equal" else map(unmask_line, new[c:d])
    return "\n".join(found)
