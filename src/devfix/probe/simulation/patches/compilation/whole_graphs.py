"""Graph breaks: `torch.compile(fullgraph=True)` raises what Dynamo raises; otherwise the function runs uncompiled.

Dynamo really traces, with fake tensors on a GPU, and is stopped where it would call its backend: a trace has no
effects, so the function runs once. Dynamo sees PyTorch's own functions in place of replacements.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import torch

from ... import modes
from ...accelerators import devices
from ...late_imports import when_imported
from ...patching import REPLACEMENTS, replace, undo_with, wrap
from ..accelerators import stream_classes

_DYNAMO: Any = torch._C._dynamo
_PROBE = str(Path(__file__).parents[3])
# Graph breaks on any device, in the wording of 2.6 and of later releases: the simulation causes none of these.
_BREAKS = re.compile(
    r"[Dd]ata[- ]dependent|Failed to trace builtin operator|Dynamic (control flow|shape)|Tensor\.(item|tolist)"
    r"|print|graph_break\(|compiler\.disable|dynamo\.disable"
)


class _Traced(Exception):
    """The whole function was traced."""


def _stop(graph: Any, examples: Any) -> Any:
    raise _Traced


def check_graph(compile: Any, function: Any, run: Any, options: Any) -> Any:
    """Return a function that runs as `run` does after Dynamo has traced `function` without a graph break."""
    left = [True]
    asked = {name: value for name, value in options.items() if name in ("dynamic", "fullgraph")}

    def call(*args: Any, **kwargs: Any) -> Any:
        if left and not torch.compiler.is_compiling():
            left.clear()
            compiled = compile(function, backend=_stop, **asked)
            ran, result = _trace(compiled, args, kwargs)
            if ran:
                return result
        return run(*args, **kwargs)

    return call


def _trace(compiled: Any, args: Any, kwargs: Any) -> tuple[bool, Any]:
    """Raise graph breaks of a program; return whether it ran because there was no graph, and its result."""
    from torch._dynamo.exc import BackendCompilerFailed, Unsupported

    try:
        with torch._dynamo.config.patch(suppress_errors=False):
            return True, compiled(*args, **kwargs)
    except BackendCompilerFailed:
        return False, None
    except Unsupported as error:
        stack = [frame.filename for frame in getattr(error, "real_stack", None) or ()]
        if _BREAKS.search(str(error).partition("\n")[0]) and not any(file.startswith(_PROBE) for file in stack):
            raise
    except Exception:
        pass  # the run itself raises the error of the operator
    return False, None


def _own(value: Any) -> Any:
    while getattr(value, "_devfix_original", None) is not None:
        value = getattr(value, "_devfix_original")  # noqa: B009 - unknown to the types
    return value


def _showing(original: Any) -> Any:
    def _wrap(self: Any, value: Any) -> Any:
        return original(self, _own(value) if isinstance(value, REPLACEMENTS) else value)

    return _wrap


def _finding(original: Any) -> Any:
    def load_object(name: str) -> Any:
        return _own(original(name))

    return load_object


def _teach(rules: Any) -> None:
    """Let Dynamo find PyTorch's own functions by their names, and skip the probe's."""
    wrap(rules, "load_object", _finding)
    skipped = getattr(rules, "SKIP_DIRS", None)
    if isinstance(skipped, list) and hasattr(rules, "_recompile_re"):
        skipped.append(_PROBE)
        rules._recompile_re()

        def look_again() -> None:
            skipped.remove(_PROBE)
            rules._recompile_re()

        undo_with(look_again)


def _on_stream(original: Any) -> Any:
    def get_current_stream(device: Any) -> Any:
        if not modes.world or devices.index_named(device) is None:  # Dynamo keeps what it imported in a world
            return original(device)
        return stream_classes.current_stream(device)

    return get_current_stream


def install() -> None:
    """Patch Dynamo when it is imported, and the stream in C++ on which its guards hang since 2.15."""
    own = getattr(_DYNAMO, "utils", None)
    known = getattr(own, "get_current_stream", None)
    if known is not None:
        wrap(own, "get_current_stream", _on_stream)
        for name in ("torch._dynamo.utils", "torch._dynamo.guards"):
            if getattr(sys.modules.get(name), "get_current_stream", None) is known:
                replace(sys.modules[name], "get_current_stream", getattr(own, "get_current_stream", None))
    when_imported("torch._dynamo.trace_rules", _teach)
    when_imported("torch._dynamo.variables.builder", lambda module: wrap(module.VariableBuilder, "_wrap", _showing))
