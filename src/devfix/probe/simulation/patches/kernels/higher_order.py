"""Higher-order operators (`flex_attention`, `scan`) in releases that do not pass them to modes: up to 2.6.

Since 2.7 a mode with `supports_higher_order_operators` receives them like any other operator.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from torch._ops import HigherOrderOperator
from torch.utils._python_dispatch import TorchDispatchMode

from ...dispatcher import dispatch
from ...patching import undo_with, wrap


def _run(operator: Any, mode: Any, *args: Any, **kwargs: Any) -> Any:
    return mode.__torch_dispatch__(operator, (), args, kwargs)


def _with_rule(original: Any) -> Any:
    """Wrap the dispatcher of these operators: the first call of each adds a rule for the world's mode."""

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        if dispatch.World not in self.python_key_table:
            self.python_key_table[dispatch.World] = partial(_run, self)
            undo_with(partial(self.python_key_table.pop, dispatch.World, None))
        return original(self, *args, **kwargs)

    return call


def install() -> None:
    """Patch the dispatcher where it looks up a rule."""
    if not hasattr(TorchDispatchMode, "supports_higher_order_operators"):
        wrap(HigherOrderOperator, "dispatch", _with_rule)
