"""Read and write elements by many kinds of index, on the CPU and on a simulated GPU; print where the two differ."""

import json
import re
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import torch

from devfix.probe.simulation import world

Made = Callable[[str], Any]


def _tensor(data: Any, dtype: Any = None) -> Made:
    return lambda device: torch.tensor(data, dtype=dtype, device=device)


def _plain(value: Any) -> Made:
    return lambda device: value


_LONG, _MASK = _tensor([0, 1]), _tensor([True, False])
_RANK = [[True, False, True], [False, True, False]]
INDICES: dict[str, Made] = {
    **{repr(value): _plain(value) for value in (
        0, -1, 9, 0.5, "a", None, ..., (..., ...), True, False, [], [0], [0, 1], [9], [0.5], ["a"], [[0, 1], [1, 0]],
        [[0], [1, 0]], [True, False], [True] * 3, (0, [0, 1]), ([0, 1], [1, 0]), ([0, 1], [1, 0, 1]), range(2),
        (range(2), 0), slice(0, 1), slice(None, None, -1), slice(0, 2, 0), slice(0.0, 1.0), (0, 0, 0, 0), [slice(0, 1)],
        [None], [...], (True, 0), {0}, {0: 1}, (), ((0, 1),), [0] * 33, [[[0, 1]]], numpy.int64(1),
    )},
    **{f"array {place}": _plain(numpy.array(data)) for place, data in enumerate(([0, 1], [True, False], [0.5], 1))},
    "arrays": _plain([numpy.array([0, 1]), numpy.array([1, 0])]),
    "tensor": _LONG, "mask": _MASK, "mask of two dimensions": _tensor(_RANK), "number": _tensor(1),
    "bytes": _tensor([1, 0], torch.uint8), "halves": _tensor([0.5]), "int32": _tensor([0, 1], torch.int32),
    "int16": _tensor([0, 1], torch.int16), "one truth": _tensor(True), "none": _tensor([], torch.int64),
    "tensor of the host": _plain(torch.tensor([0, 1])), "mask of the host": _plain(torch.tensor([True, False])),
    "with an ellipsis": lambda device: (..., _LONG(device)), "with None": lambda device: (None, _LONG(device)),
    "apart": lambda device: (_LONG(device), None, _LONG(device)), "after a slice": lambda device: (slice(None), [0]),
    "tensors in a list": lambda device: [_LONG(device), _LONG(device)],
    "mask and number": lambda device: (_MASK(device), 0),
    "slice by numbers": lambda device: slice(torch.tensor(0, device=device), torch.tensor(1, device=device)),
}  # fmt: skip
BASES: dict[str, Made] = {
    "vector": _tensor([1.0, 2.0]), "matrix": lambda device: torch.arange(6.0, device=device).reshape(2, 3),
    "integers": lambda device: torch.arange(12, device=device).reshape(2, 2, 3), "number": _tensor(1.0), "mask": _MASK,
    "leaf": lambda device: torch.ones(2, 3, device=device, requires_grad=True),
}  # fmt: skip
VALUES: dict[str, Made] = {
    "7": _plain(7), "true": _plain(True), "complex": _plain(1j), "number": _tensor(7.0), "two": _tensor([7.0, 8.0]),
    "three": _tensor([7, 8, 9]), "number of the host": _plain(torch.tensor(7)), "list": _plain([7.0, 8.0]),
}  # fmt: skip


def _told(text: str) -> str:
    text = re.sub(r"\bcuda:0\b|\bcpu\b", "device", text)
    return re.sub(r"torch\.cuda\.(?=\w+Tensor)", "torch.", text)


def _outcome(work: Callable[[], Any]) -> str:
    try:
        return repr(work())
    except Exception as error:
        return f"{type(error).__name__}: {_told(str(error))}"


def _read(base: Any, index: Any) -> Any:
    made = base[index]
    return tuple(made.shape), str(made.dtype), made.detach().cpu().tolist(), made.requires_grad


def _write(base: Any, index: Any, value: Any) -> Any:
    target = base * 1 if base.requires_grad else base
    target[index] = value
    return target.detach().cpu().tolist()


def outcomes(device: str) -> dict[str, str]:
    """Return what became of each reading and writing."""
    found = {}
    for base, make in BASES.items():
        for index, of in INDICES.items():
            found[f"{base}, {index}"] = _outcome(lambda make=make, of=of: _read(make(device), of(device)))  # type: ignore[misc]
            for value, given in VALUES.items():
                work = lambda make=make, of=of, given=given: _write(make(device), of(device), given(device))  # noqa: E731
                found[f"{base}, {index} = {value}"] = _outcome(work)  # type: ignore[arg-type]
    return found


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    host = outcomes("cpu")
    world.enter("simulated", 1)
    gpu = outcomes("cuda")
    print(json.dumps([len(host), {name: (host[name], gpu[name]) for name in host if host[name] != gpu[name]}]))
    sys.exit(0)
