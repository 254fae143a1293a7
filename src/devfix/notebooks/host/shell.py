"""Changes to IPython's shell: names of code, tracebacks, `%run` of notebooks, commands that install packages."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from ..magics import join_commands
from ..notebook import Notebook, cell_name, is_notebook
from . import colab
from .compiler import NotebookCompiler

_INSTALLS = re.compile(
    r"\s*(sudo\s+)?(\S*python[\d.]*\s+-m\s+|uv\s+)?(\S*/)?(pip[\d.]*|conda|mamba|apt|apt-get)\s+"
    r"(-\S+\s+)*(install|uninstall|remove|update|upgrade)\b"
)
_FRAME = re.compile(r'  File "(?P<path>[^"\n]*\.ipynb)", line (?P<line>\d+)')


def prepare(shell: Any, notebook: str) -> None:
    """Let a shell run the cells of a notebook; called before the first one."""
    compiler = NotebookCompiler(Notebook(Path(notebook).read_bytes()), notebook)
    shell.compile = compiler
    shell.input_transformer_manager.cleanup_transforms.insert(0, join_commands)
    _name_cells_in_tracebacks(shell, compiler)
    _follow_run(shell, compiler)
    _leave_packages_alone(shell)
    colab.stand_in(cell.source.text for cell in compiler.notebook.cells)
    if (seeding := sys.modules.get("devfix probe.simulation.seeding")) is not None:
        seeding.renew()  # the kernel has drawn random numbers for itself


def _name_cells_in_tracebacks(shell: Any, compiler: NotebookCompiler) -> None:
    show = shell._showtraceback

    def shown(kind: Any, error: BaseException | None, lines: list[str]) -> None:
        if error is not None and error.__traceback__ is not None:
            lines = list(_traceback(error, compiler))
        show(kind, error, lines)
        if "raises-exception" in compiler.tags:  # it is expected, and ends nothing
            for name in ("last_type", "last_value", "last_traceback", "last_exc"):
                vars(sys).pop(name, None)

    shell._showtraceback = shown


def _traceback(error: BaseException, compiler: NotebookCompiler) -> Iterator[str]:
    """Yield the lines of Python's traceback from the first frame of a notebook on."""
    _without_probe(error)
    first = _first_of_notebook(error.__traceback__) or error.__traceback__
    if isinstance(error, SyntaxError) and error.filename in compiler.paths:
        first = None  # of the cell itself, which did not run
    for text in traceback.format_exception(type(error), error, first):
        yield _FRAME.sub(lambda found: _name_cell(found, compiler), text.rstrip("\n"))


def _without_probe(error: BaseException) -> None:
    """Take devfix's own frames out of a traceback, as its probe does where an exception ends a program."""
    probe = sys.modules.get("devfix probe.capture.failure")
    if probe is not None:
        probe.strip(error)


def _first_of_notebook(trace: TracebackType | None) -> TracebackType | None:
    while trace is not None and not is_notebook(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return trace


def _name_cell(found: re.Match[str], compiler: NotebookCompiler) -> str:
    place = compiler.place(found["path"], int(found["line"]))
    if place is None:
        return found[0]
    return f'  File "{cell_name(found["path"], place.cell)}", line {int(found["line"]) - place.start}'


def _follow_run(shell: Any, compiler: NotebookCompiler) -> None:
    """Run the cells of another notebook (`%run other.ipynb`) under its own name, and fail where one of them does."""
    plain = shell.safe_execfile_ipy

    def execute(name: str, *args: Any, **kwargs: Any) -> None:
        path = Path(name).expanduser().resolve()
        if not is_notebook(path.name):
            plain(name, *args, **kwargs)
            return
        notebook = Notebook(path.read_bytes())
        with _first_on_path(str(path.parent)), compiler.inside(notebook, str(path)):
            for cell in notebook.cells:
                if cell.source.text.strip():
                    shell.run_cell(cell.source.text, silent=True).raise_error()

    shell.safe_execfile_ipy = execute


@contextmanager
def _first_on_path(folder: str) -> Iterator[None]:
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        if folder in sys.path:
            sys.path.remove(folder)


def _leave_packages_alone(shell: Any) -> None:
    """Leave out commands that install packages: a program that is run many times must not change its environment."""

    def guarded(run: Callable[[str], Any]) -> Callable[[str], Any]:
        def system(command: str) -> Any:
            if not _INSTALLS.match(command):
                return run(command)
            print(f"devfix: not run, the environment stays as it is: {command.strip()[:200]}", file=sys.stderr)
            shell.user_ns["_exit_code"] = 0
            return None

        return system

    for name in ("system", "system_piped", "system_raw"):
        setattr(shell, name, guarded(getattr(shell, name)))
