"""Questions to a tensor that the trace in progress does not record."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

is_traced = torch._C._is_tracing
_C: Any = torch._C
_TRACER = _C._dispatch_key_parse("Tracer")


@contextmanager
def suspend_trace() -> Iterator[None]:
    """Suspend the trace in progress, in which the sizes of a tensor would be the results of operators."""
    state = _C._get_tracing_state()
    below = _C._dispatch_tls_is_dispatch_key_excluded(_TRACER)  # in a kernel, where C++ refuses to set any state
    _C._dispatch_tls_set_dispatch_key_excluded(_TRACER, False)
    _C._set_tracing_state(None)
    try:
        yield
    finally:
        _C._set_tracing_state(state)
        _C._dispatch_tls_set_dispatch_key_excluded(_TRACER, below)
