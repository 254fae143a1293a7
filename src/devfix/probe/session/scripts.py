"""Let Python run what TorchScript would compile: its interpreter has no frames, and so no scopes and no locations."""

from __future__ import annotations

import types
from typing import Any

import torch
import torch.jit._state as state

from ..simulation.patching import replace, undo_with, wrap


def interpret() -> None:
    """Let `torch.jit.script` and `torch.jit.trace` return what they are given, as with `PYTORCH_JIT=0`.

    What only compiled code has is there too: it can be saved, frozen and optimized.
    """
    if not state._enabled:
        return
    state.disable()
    undo_with(state.enable)
    for name in ("script", "trace"):
        wrap(torch.jit, name, _add_save)
    replace(torch.jit, "save", _save)
    for name in ("freeze", "optimize_for_inference"):
        replace(torch.jit, name, _return_unchanged)


def _add_save(original: Any) -> Any:
    def leave_uncompiled(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        if isinstance(made, (torch.nn.Module, types.FunctionType)) and not hasattr(made, "save"):
            made.__dict__["save"] = types.MethodType(_save, made)
        return made

    return leave_uncompiled


def _save(code: Any, file: Any, _extra_files: Any = None, **_: Any) -> None:
    """Compile after all, and save that."""
    code.__dict__.pop("save", None)
    state.enable()
    try:
        torch.jit.script(code).save(file, **({"_extra_files": _extra_files} if _extra_files else {}))
    finally:
        state.disable()


def _return_unchanged(code: Any, *_: Any, **__: Any) -> Any:
    return code
