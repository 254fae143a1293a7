"""Trace the modules of PyTorch's own tests on a simulated GPU; print what differs from a trace on the CPU.

Each module runs as it is, traced, traced and checked, saved and loaded, and moved to the CPU and back. What the CPU
gives is computed before the world is entered. The argument is the number of samples of each module. Printed as JSON:
the differences, and how many runs there were.
"""

import inspect
import io
import json
import sys
import warnings
from typing import Any

import comparing
import torch
from torch.testing._internal.common_modules import module_db
from torch.utils._pytree import tree_map

from devfix.probe.simulation import world

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
WAYS = ("as it is", "traced", "checked", "saved", "moved")
MOST = int(sys.argv[1])  # samples of each module


def moved(value: Any, device: str) -> Any:
    return value.detach().clone().to(device) if isinstance(value, torch.Tensor) else value


def result(kind: Any, sample: Any, device: str, way: str) -> Any:
    torch.manual_seed(0)
    made = kind(*sample.constructor_input.args, **sample.constructor_input.kwargs).eval().to(device)
    parts = sample.forward_input.args, sample.forward_input.kwargs
    args, kwargs = (tree_map(lambda value: moved(value, device), part) for part in parts)
    if way == "as it is":
        return made(*args, **kwargs)
    if kwargs:
        names = inspect.signature(made.forward).parameters
        kwargs, args = {**dict(zip(names, args, strict=False)), **kwargs}, ()
        traced = torch.jit.trace(made, example_kwarg_inputs=kwargs, check_trace=way == "checked")
    else:
        traced = torch.jit.trace(made, args, check_trace=way == "checked")
    if way == "saved":
        file = io.BytesIO()
        torch.jit.save(traced, file)
        file.seek(0)
        traced = torch.jit.load(file)
    if way == "moved":
        traced = traced.cpu().to(device)
    return traced(*args, **kwargs)


def outcome(kind: Any, sample: Any, device: str, way: str) -> tuple[Any, str]:
    try:
        return result(kind, sample, device, way), ""
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def samples(entry: Any) -> list[Any]:
    try:
        found = entry.module_inputs_func(entry, "cpu", torch.float32, requires_grad=False, training=False)
    except (NotImplementedError, RuntimeError):
        return []
    return [each for each in found if each.forward_input is not None][:MOST]


plain = [
    (entry, sample, way, outcome(entry.module_cls, sample, "cpu", way))
    for entry in module_db
    for sample in samples(entry)
    for way in WAYS
]
world.enter("simulated", 2)
differences: dict[str, str] = {}
compared = 0
for entry, sample, way, (value, failed) in plain:
    other, failed_other = outcome(entry.module_cls, sample, "cuda:0", way)
    if failed and failed_other:
        continue
    compared += 1
    if failed or failed_other:
        text = f"CPU: {failed or 'ok'}; GPU: {failed_other or 'ok'}"[:400]
    else:
        text = comparing.difference(value, other, close=True)
    if text:
        differences.setdefault(f"{entry.name} {way}", text)
print(json.dumps({"compared": compared, "differences": differences}))
