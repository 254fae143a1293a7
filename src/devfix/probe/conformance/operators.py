"""Move each tensor argument of each operator's samples to another device, and record the result.

The samples are those of PyTorch's own operator database (`torch.testing._internal`), which needs expecttest.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Iterator
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_unflatten

# By the name in recordings: where the tensors of an operator lie, and where one of them lies instead.
PAIRS = {
    "cpu in cuda:0": ("cuda:0", "cpu"),
    "cuda:0 in cpu": ("cpu", "cuda:0"),
    "cuda:1 in cuda:0": ("cuda:0", "cuda:1"),
}


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


def _samples(operator: Any, dtype: torch.dtype, most: int) -> list[Any]:
    """Return the same samples each time, whichever operators came before."""
    torch.manual_seed(0)
    random.seed(0)
    return list(itertools.islice(operator.sample_inputs("cpu", dtype), most))


def mixtures(operator: Any, home: str, away: str, most: int) -> Iterator[tuple[str, str]]:
    """Yield a key and the result for each sample that runs on `home`, with each of its tensors alone on `away`."""
    dtype = torch.float32 if torch.float32 in operator.dtypes else min(operator.dtypes, key=str, default=None)
    if dtype is None:
        return
    for number, sample in enumerate(_samples(operator, dtype, most)):
        leaves, tree = tree_flatten((sample.input, sample.args, sample.kwargs))
        tensors = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        if len(tensors) < 2 or outcome(operator.op, tree_unflatten(_move(leaves, -1, home, away), tree)) != "ok":
            continue
        for place in tensors:
            shape = "0-dim" if leaves[place].dim() == 0 else f"{leaves[place].dim()}-dim"
            parts = tree_unflatten(_move(leaves, place, home, away), tree)
            yield f"sample {number}, tensor {tensors.index(place)} ({shape})", outcome(operator.op, parts)


def alone(operator: Any, home: str, most: int = 1) -> Iterator[tuple[str, str]]:
    """Yield a key and the result for a sample of each dtype that runs on the CPU, with all its tensors on `home`."""
    for dtype in sorted(operator.dtypes, key=str):
        for number, sample in enumerate(_samples(operator, dtype, most)):
            leaves, tree = tree_flatten((sample.input, sample.args, sample.kwargs))
            if outcome(operator.op, tree_unflatten(_move(leaves, -1, "cpu", "cpu"), tree)) != "ok":
                continue
            try:
                parts = tree_unflatten(_move(leaves, -1, home, home), tree)
            except (RuntimeError, TypeError) as error:
                yield f"sample {number}, {dtype}", f"not moved: {type(error).__name__}: {str(error).splitlines()[0]}"
            else:
                yield f"sample {number}, {dtype}", outcome(operator.op, parts)


def record_alone(home: str, only: Collection[str] = ()) -> dict[str, dict[str, str]]:
    """Return the results of every operator, or of those in `only`, with tensors of one device alone."""
    chosen = (each for each in database() if not only or each.name in only)
    return {name_of(operator): rows for operator in chosen if (rows := dict(alone(operator, home)))}


def name_of(operator: Any) -> str:
    """Return the name of an entry of the database, with that of its variant."""
    return str(operator.name) + (f".{operator.variant_test_name}" if operator.variant_test_name else "")


def record(home: str, away: str, most: int = 3, only: Collection[str] = ()) -> dict[str, dict[str, str]]:
    """Return the results of every operator, or of those in `only`: `{name: {mixture: result}}`."""
    found = {}
    for operator in database():
        if only and operator.name not in only:
            continue
        rows = dict(mixtures(operator, home, away, most))
        if rows:
            found[name_of(operator)] = rows
    return found
