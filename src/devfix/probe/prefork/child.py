"""Turn a running process into what `python script.py arguments` or `python -m module arguments` would be."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import importlib.machinery
import importlib.util
import io
import os
import runpy
import signal
import sys
import tempfile
import types
import weakref
from collections.abc import Callable, Sequence
from typing import Any

Exit = int


def become(request: dict[str, Any], out: int, err: int, paths: Sequence[str]) -> Exit:
    """Adopt the request's streams, environment and arguments, run its script or module, and return the exit code.

    `paths` are the entries that PYTHONPATH added to `sys.path` when this process started.
    """
    _take_streams(out, err)
    first, *others = (str(word) for word in request["words"])
    module = others[0] if first == "-m" else None
    os.environ.clear()
    os.environ.update(request["environment"])
    tempfile.tempdir = None  # otherwise the server's own, which may be set
    os.chdir(request["cwd"])
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    sys.argv[:] = [first, *(others if module is None else others[1:])]
    sys.orig_argv[:] = [sys.executable, first, *others]
    entries = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    entries = list(dict.fromkeys(os.path.abspath(path) for path in entries))
    sys.path[:] = entries + [path for path in sys.path if path not in paths and path not in entries]
    _begin_again()
    if request.get("children") is not None:
        _fork_children(request["children"], request["read_at_start"])
    _enter_probe()
    path = os.path.join(os.getcwd(), first)
    if not os.environ.get("PYTHONSAFEPATH"):
        sys.path.insert(0, os.path.dirname(os.path.realpath(path)) if module is None else os.getcwd())
    return _run_script(path) if module is None else _run_module(module)


def _fork_children(control: int, read_at_start: str) -> None:
    """Let this program's own programs be forked by another server."""
    importlib.import_module("devfix probe.prefork.forked_children").install(control, read_at_start)


def _take_streams(out: int, err: int) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    for descriptor, place in ((null, 0), (out, 1), (err, 2)):
        os.dup2(descriptor, place)
        os.close(descriptor)


def _begin_again() -> None:
    """Reset what a process remembers from its start: the working folder, and randomly seeded generators.

    PyTorch unregisters its 130 libraries of operators at exit, which takes 0.03 s and is seen by nobody after it.
    """
    process = sys.modules.get("multiprocessing.process")
    if process is not None:
        process.ORIGINAL_DIR = os.getcwd()  # type: ignore[attr-defined]
    for finalizer, entry in list(getattr(weakref.finalize, "_registry", {}).items()):
        if str(getattr(entry.func, "__module__", "")).partition(".")[0] == "torch":
            finalizer.atexit = False
    numpy = sys.modules.get("numpy.random")
    if numpy is not None:
        numpy.seed()  # `random` reseeds itself after a fork
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.default_generator.seed()


def _enter_probe() -> None:
    """Do what the probe's sitecustomize does in a fresh process, if PYTHONPATH contains it."""
    entry = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "entry")
    if not os.environ.get("DEVFIX_PROBE") or entry not in map(os.path.realpath, sys.path):
        return
    spec = importlib.util.spec_from_file_location("devfix_entry", os.path.join(entry, "sitecustomize.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.torch_imported()


def _run_script(path: str) -> Exit:
    loader = importlib.machinery.SourceFileLoader("__main__", path)
    main = _new_main(__file__=path, __loader__=loader, __cached__=None)
    try:
        with io.open_code(path) as file:
            source = file.read()
    except OSError as error:
        sys.stderr.write(f"{sys.executable}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}\n")
        return 2
    return _run_program(lambda: exec(compile(source, path, "exec", dont_inherit=True), vars(main)))


def _run_module(name: str) -> Exit:
    _new_main()
    return _run_program(lambda: runpy._run_module_as_main(name))  # type: ignore[attr-defined]  # as the interpreter does


def _new_main(**names: object) -> types.ModuleType:
    main = types.ModuleType("__main__")
    vars(main).update(__builtins__=builtins, __annotations__={}, **names)
    sys.modules["__main__"] = main
    return main


def _run_program(program: Callable[[], object]) -> Exit:
    """Run a program and return its exit code; an exception that it lets pass is printed."""
    try:
        program()
    except SystemExit as error:
        return _exit_code(error)
    except BaseException as error:
        return _print(error)
    return 0


def _exit_code(error: SystemExit) -> Exit:
    if error.code is None or isinstance(error.code, int):
        return int(error.code or 0) & 0xFF
    with contextlib.suppress(Exception):
        sys.stderr.write(f"{error.code}\n")
    return 1


def _print(error: BaseException) -> Exit:
    """Print an exception as the interpreter does: without the frames from before the script."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error.__traceback__ = trace
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    if sys.version_info >= (3, 12):
        sys.last_exc = error
    sys.excepthook(type(error), error, trace)
    if isinstance(error, KeyboardInterrupt):
        sys.stderr.flush()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    return 1
