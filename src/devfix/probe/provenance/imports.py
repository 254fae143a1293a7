"""Exclude what PyTorch's compiler runs while it is imported from the count of operators.

A program's first optimizer imports it, while a prefork server may have done so already: in 2.6 that is 67 operators, by
which two runs of one program would differ.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

from ..simulation.late_imports import around_import
from . import records

NAME = "torch._dynamo"


def install() -> None:
    """Watch for the compiler's import, if it has not happened yet."""
    if NAME not in sys.modules:
        around_import(NAME, _exclude)


def _exclude(module: ModuleType, run: Callable[[], None]) -> None:
    with records.aside():
        run()
