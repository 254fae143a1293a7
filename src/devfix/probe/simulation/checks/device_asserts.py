"""Assertions of CUDA's kernels about values: indices and classes out of range.

CUDA raises an AcceleratorError, which is a RuntimeError, at some later call; the simulation raises at the call, in the
CPU's words. The error is of both classes, so that a handler written for either catches it.
"""

from __future__ import annotations

import re
from typing import Any

import torch

_ASSERTING = frozenset(
    (
        "index", "index_put", "_index_put_impl", "index_select", "index_fill", "index_copy", "index_reduce", "take",
        "put", "embedding", "nll_loss", "nll_loss2d", "nll_loss_forward", "nll_loss2d_forward",
    )
)  # fmt: skip
# The host checks the rest: dimensions, dtypes, tensors without elements.
_OF_VALUES = re.compile(
    r"(\w+\(\): )?index -?\d+ is out of bounds|index out of range in self|Target -?\d+ is out of bounds|"
    r"out of range: tried to access index"
)
_Accelerators: type[RuntimeError] = getattr(torch, "AcceleratorError", RuntimeError)


class _OutOfRange(IndexError, _Accelerators):  # type: ignore[misc, valid-type]
    """An index out of range, on a GPU; pickled as the IndexError that it is on the CPU."""

    def __reduce__(self) -> Any:
        return IndexError, self.args


_OutOfRange.__name__ = _OutOfRange.__qualname__ = "IndexError"
_OutOfRange.__module__ = "builtins"


def of_values(error: Exception, base: str) -> Exception:
    """Return the error for an index that a kernel of CUDA's would have found, else the error as it is."""
    text = error.args[0] if error.args and isinstance(error.args[0], str) else ""
    if type(error) is not IndexError or base not in _ASSERTING or not _OF_VALUES.match(text):
        return error
    made = _OutOfRange(*error.args)
    made.__suppress_context__ = True
    return made
