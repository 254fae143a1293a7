"""Move each tensor argument of each operator's samples to another device, and record the result.

The samples are those of PyTorch's own operator database (`torch.testing._internal`), which needs expecttest.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten


def database() -> list[Any]:
    """Return PyTorch's operator database; imported late, since it queries the number of GPUs."""
    from torch.testing._internal.common_methods_invocations import op_db

    return list(op_db)


def _move(leaves: list[Any], alone: int, home: str, away: str) -> list[Any]:
    made = []
    for place, leaf in enumerate(leaves):
        if isinstance(leaf, torch.Tensor):
            made.append(leaf.detach().clone().to(away if place == alone else home))
        else:
            made.append(leaf)
    return made


def outcome(call: Any, parts: Any) -> str:
    """Return the result of a call: "ok", or the exception's type and the first line of its message."""
    try:
        call(parts[0], *parts[1], **parts[2])
    except Exception as error:
        text = str(error).splitlines()
        return f"{type(error).__name__}: {text[0] if text else ''}"
    return "ok"


def mixtures(operator: Any, home: str, away: str, most: int) -> Iterator[tuple[str, str]]:
    """Yield a key and the result for each sample that runs on `home`, with each of its tensors alone on `away`."""
    dtype = torch.float32 if torch.float32 in operator.dtypes else min(operator.dtypes, key=str, default=None)
    if dtype is None:
        return
    for number, sample in enumerate(itertools.islice(operator.sample_inputs("cpu", dtype), most)):
        leaves, tree = tree_flatten((sample.input, sample.args, sample.kwargs))
        tensors = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        if len(tensors) < 2 or outcome(operator.op, tree_unflatten(_move(leaves, -1, home, away), tree)) != "ok":
            continue
        for place in tensors:
            shape = "0-dim" if leaves[place].dim() == 0 else f"{leaves[place].dim()}-dim"
            parts = tree_unflatten(_move(leaves, place, home, away), tree)
            yield f"sample {number}, tensor {tensors.index(place)} ({shape})", outcome(operator.op, parts)


def record(home: str, away: str, most: int = 3, only: Collection[str] = ()) -> dict[str, dict[str, str]]:
    """Return the results of every operator, or of those in `only`: `{name: {mixture: result}}`."""
    found = {}
    for operator in database():
        if only and operator.name not in only:
            continue
        name = operator.name + (f".{operator.variant_test_name}" if operator.variant_test_name else "")
        rows = dict(mixtures(operator, home, away, most))
        if rows:
            found[name] = rows
    return found
