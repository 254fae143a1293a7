"""Compile cells under the path of their notebook, with the line numbers of its script."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from IPython.core.compilerop import CachingCompiler

from ..magics import cell_magic, unmask_line
from ..notebook import CellPlace, Notebook
from ..reading import Cell


@dataclass
class _Running:
    """A notebook whose cells run: how many began, and what is compiled of the current one.

    `shift` is the line of the script above the first line of what IPython compiles.
    """

    notebook: Notebook
    path: str
    begun: int = 0
    cell: Cell | None = None
    whole: str | None = None
    shift: int = 0


class NotebookCompiler(CachingCompiler):
    """IPython's compiler, which knows the cells of a notebook, and of others that it runs."""

    def __init__(self, notebook: Notebook, path: str) -> None:
        super().__init__()
        self._books = {path: notebook}
        self._running = [_Running(notebook, path)]

    @property
    def notebook(self) -> Notebook:
        """The notebook that runs now."""
        return self._running[-1].notebook

    @property
    def paths(self) -> frozenset[str]:
        """The paths of the notebooks that have run."""
        return frozenset(self._books)

    @property
    def tags(self) -> frozenset[str]:
        """The tags of the cell that runs, or that ran last; those of the outer one in a notebook that it runs."""
        cell = self._running[0].cell
        return cell.tags if cell is not None else frozenset()

    @contextmanager
    def inside(self, notebook: Notebook, path: str) -> Iterator[None]:
        """Expect the cells of another notebook."""
        self._books[path] = notebook
        self._running.append(_Running(notebook, path))
        try:
            yield
        finally:
            self._running.pop()

    def place(self, path: str, line: int) -> CellPlace | None:
        """Return the cell of a line in a notebook that has run."""
        return self._books[path].place(line) if path in self._books else None

    def cache(self, transformed_code: str, number: int = 0, raw_code: str | None = None) -> str:
        """Return the name under which a cell is compiled; called before anything else is done with it."""
        running, raw = self._running[-1], transformed_code if raw_code is None else raw_code
        cells = running.notebook.cells
        found = next((at for at in range(running.begun, len(cells)) if cells[at].source.text == raw), None)
        if found is not None:
            cell = running.cell = cells[found]
            running.begun = found + 1
            running.shift = running.notebook.starts[cell.number] + _blank(raw)
        elif running.cell is not None and cell_magic(running.cell.source.text) and _ends(running.cell, raw):
            running.shift = self._below_magic(running)  # the magic runs what is below it as a cell
        else:
            running.whole = None
            return str(super().cache(transformed_code, number, raw_code))
        running.whole = transformed_code
        lines = running.notebook.script.decode("utf-8", "replace").split("\n")
        shown = [unmask_line(line) + "\n" for line in lines]
        linecache.cache[running.path] = (len(running.notebook.script), None, shown, running.path)
        return running.path

    def ast_parse(self, source: str, filename: str = "<unknown>", symbol: str = "exec") -> Any:
        """Parse a cell, or what is below its magic, as lines of the script."""
        running = self._running[-1]
        if source == running.whole:
            shift = running.shift
        else:
            shift = self._below_magic(running) if self._is_below_magic(running) else 0
        try:
            return ast.increment_lineno(super().ast_parse(source, filename, symbol), shift)
        except SyntaxError as error:
            error.lineno, error.end_lineno = (line and line + shift for line in (error.lineno, error.end_lineno))
            raise

    def __call__(self, source: Any, filename: str, symbol: str, *args: Any, **kwargs: Any) -> Any:
        """Compile, under the notebook's path also what a cell magic runs (`<timed exec>`)."""
        running = self._running[-1]
        if filename.startswith("<") and isinstance(source, ast.AST) and self._is_below_magic(running):
            filename = running.path
        return super().__call__(source, filename, symbol, *args, **kwargs)

    @staticmethod
    def _is_below_magic(running: _Running) -> bool:
        return running.cell is not None and bool(cell_magic(running.cell.source.text))

    @staticmethod
    def _below_magic(running: _Running) -> int:
        """Return the line of the script above the first one below a cell magic that is not empty."""
        assert running.cell is not None
        text = running.cell.source.text
        first = _blank(text) + 1
        return running.notebook.starts[running.cell.number] + first + _blank("\n".join(text.split("\n")[first:]))


def _ends(cell: Cell, body: str) -> bool:
    return cell.source.text.rstrip("\n").endswith(body.rstrip("\n"))


def _blank(text: str) -> int:
    """Return the number of empty lines at the start, which IPython leaves out."""
    lines = text.split("\n")
    return next((at for at, line in enumerate(lines) if line.strip()), 0)
