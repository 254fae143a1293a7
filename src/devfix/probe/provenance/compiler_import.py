"""Postpone the import of PyTorch's compiler until something but an optimizer asks for it.

A program's first optimizer imports `torch._dynamo` to say which of its functions are not compiled. That takes 1.1 s of
processor time, as long as `import torch` itself (2.13), and most programs compile nothing. Until the compiler is
needed, its module is one that knows these two answers; the first look at another of its attributes imports it.

What the compiler runs while it is imported is left out of the count of operators: in 2.6 that is 67 of them, by which
two runs of one program would differ.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

from ..simulation.late_imports import around_import
from ..simulation.patching import undo_with
from . import records

NAME = "torch._dynamo"
_ASKING = frozenset({"torch._compile", "torch.optim.optimizer"})  # their functions call `disable` and `graph_break`
_SET_BY_IMPORT = frozenset({"__spec__", "__loader__", "__name__", "__package__", "__file__", "__class__", "__dict__"})
_ASKED_OF_ALL = "__warningregistry__"  # of all modules by unittest's `assertWarns`
_lock = threading.RLock()


class PostponedModule(ModuleType):
    """A module whose code runs when an attribute is read that neither the import system nor an optimizer asks for."""

    def __getattribute__(self, name: str) -> Any:
        if name in _SET_BY_IMPORT or name == _ASKED_OF_ALL:
            return super().__getattribute__(name)
        answer = _ANSWERS.get(name)
        if answer is not None and sys._getframe(1).f_globals.get("__name__") in _ASKING:
            return answer
        load(self)
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _SET_BY_IMPORT:
            super().__setattr__(name, value)
        else:
            load(self)
            setattr(self, name, value)


def install() -> None:
    """Watch for the compiler's import, if it has not happened yet."""
    if NAME not in sys.modules:
        undo_with(_forget)
        around_import(NAME, _postpone)


def load(module: ModuleType) -> None:
    """Run the code of a module that was postponed."""
    with _lock:
        run = vars(module).pop("_devfix_run", None)
        if run is not None:
            module.__class__ = ModuleType
            try:
                run()
            except BaseException:  # the import system removes a module whose code fails
                sys.modules.pop(NAME, None)
                raise


def is_imported() -> bool:
    """Return whether the compiler itself was imported."""
    return NAME in sys.modules and type(sys.modules[NAME]) is not PostponedModule


def _postpone(module: ModuleType, run: Callable[[], None]) -> None:
    def run_aside() -> None:
        with records.aside():
            run()

    vars(module)["_devfix_run"] = run_aside
    module.__class__ = PostponedModule


def _forget() -> None:
    """Remove the module if it was not needed, so that the next import is an ordinary one."""
    module = sys.modules.get(NAME)
    if type(module) is PostponedModule:
        del sys.modules[NAME]
        parent, _, name = NAME.rpartition(".")
        vars(sys.modules[parent]).pop(name, None)


def _disable(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Return a function that runs `function`; once the compiler is imported, as one that is not to be compiled."""
    disabled: list[Any] = []

    def call(*given: Any, **named: Any) -> Any:
        if not disabled and is_imported():
            disabled.append(sys.modules[NAME].disable(function, *args, **kwargs))
        return (disabled[0] if disabled else function)(*given, **named)

    return call


def _graph_break(*args: Any, **kwargs: Any) -> None:
    """Do nothing, as the compiler's function does where nothing is compiled."""


_ANSWERS = {"disable": _disable, "graph_break": _graph_break}
