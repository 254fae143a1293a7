"""Recipes of tensors: a few values literally, many by their distribution and range."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from ..simulation.tensors.tensor import sizes

Json = dict[str, Any]
_FEW = 8  # values written literally
_MOST = 16_000_000  # values inspected


def tensor(value: Any) -> Json:
    """Return the recipe of a similar tensor."""
    described: Json = {
        "kind": "tensor",
        "dtype": str(value.dtype).removeprefix("torch."),
        "shape": sizes(value),
        "device": str(value.device),
        "grad": bool(value.requires_grad),
    }
    if value.layout is not torch.strided or value.numel() > _MOST or value.device.type == "meta":
        return {"kind": "unknown", "text": "tensor"}
    with _disable_current_modes(), torch.no_grad():
        described.update(_contents(host(value)))
    return described


def host(value: Any) -> Any:
    """Return a tensor's values as a plain one on the host, which shares its memory if possible."""
    held = getattr(value, "_devfix_held", None)
    return (value.cpu() if held is None else held).detach().resolve_conj().resolve_neg()


def _contents(values: Any) -> Json:
    """Return how the values may be drawn; `numbers` is Python for those that are written."""
    if values.numel() == 0:
        return {"text": "zeros"}
    if values.is_complex():
        return {"text": "normal"}
    if values.dtype is torch.bool:
        return _flags(values)
    if not values.is_floating_point():
        return _integers(values)
    flat = values.reshape(-1).to(torch.float32)
    if not torch.isfinite(flat).all():
        return {"text": "values", "numbers": _literals(values)} if values.numel() <= _FEW else {"text": "normal"}
    low, high = float(flat.min()), float(flat.max())
    if low == high:
        return _same(low)
    if values.numel() <= _FEW:
        return {"text": "values", "numbers": _literals(values)}
    return {"text": "unit" if low >= 0 and high <= 1 else "normal"}


def _flags(values: Any) -> Json:
    if bool(values.all()) or not bool(values.any()):
        return {"text": "ones" if bool(values.all()) else "zeros"}
    return {"text": "values", "numbers": _literals(values)} if values.numel() <= _FEW else {"text": "flags"}


def _integers(values: Any) -> Json:
    low, high = int(values.min()), int(values.max())
    if values.numel() > 1 and low == high:
        return _same(low)
    if values.dim() == 1 and values.numel() > 1 and bool((values[1:] - values[:-1] == 1).all()):
        return {"text": "arange", "numbers": f"[{low}, {high + 1}]"}
    if values.numel() <= _FEW:
        return {"text": "values", "numbers": _literals(values)}
    return {"text": "integers", "numbers": f"[{low}, {high + 1}]"}


def _same(number: float) -> Json:
    if number in (0, 1):
        return {"text": "ones" if number else "zeros"}
    return {"text": "full", "numbers": repr(round(number, 6) if isinstance(number, float) else number)}


def _literals(values: Any) -> str:
    def rounded(item: Any) -> str:
        if isinstance(item, list):
            return f"[{', '.join(map(rounded, item))}]"
        text = repr(float(f"{item:.4g}") if isinstance(item, float) else item)
        return f'float("{text}")' if text in ("inf", "-inf", "nan") else text

    return rounded(values.tolist())
