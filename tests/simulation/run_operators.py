"""Compare every operator of PyTorch's database; print the differences and the number of comparisons as JSON.

Argument: "float32" (ten samples, forward), "gradients" (ten in float32, two in others), "dtypes" (two
samples of every other dtype), or "inplace" (two samples of every in-place variant). A second argument
"7" takes every seventh operator, "7/3" those from the third on: a sample, where a whole run would take too long.
A third argument names another kind of device than CUDA. What the device refuses by itself is told apart. With
`DEVFIX_SHOW` each operator and difference is printed at once.
"""

import faulthandler
import json
import os
import sys
import warnings
from typing import Any

import comparing
import cuda_refusals
import torch

from devfix.probe.simulation import world

faulthandler.enable()
warnings.filterwarnings("ignore")
torch.set_num_threads(1)
device = sys.argv[3] if len(sys.argv) > 3 else "cuda"
world.enter("simulated", 1 if device == "mps" else 2, device=device)

from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402 - it asks how many GPUs there are


def jobs(op: Any, mode: str) -> list[tuple[Any, torch.dtype, bool, int]]:
    """What to call, in which dtypes, with gradients or without, and how many samples."""
    dtypes = sorted(op.dtypes, key=lambda dtype: (dtype != torch.float32, str(dtype)))
    differentiable = [x for x in dtypes if op.supports_autograd and (x.is_floating_point or x.is_complex)]
    if mode == "float32":
        return [(op.op, dtype, False, 10) for dtype in dtypes[:1]]
    if mode == "gradients":
        return [(op.op, dtype, True, 2 if place else 10) for place, dtype in enumerate(differentiable)]
    if mode == "inplace":
        return [(op.inplace_variant, dtype, False, 2) for dtype in dtypes[:1] if op.inplace_variant]
    return [(op.op, dtype, False, 2) for dtype in dtypes[1:]]


mode = sys.argv[1]
step, _, first = (sys.argv[2] if len(sys.argv) > 2 else "1").partition("/")
chosen = op_db[int(first or 0) :: int(step)]
differences: dict[str, str] = {}
refused: dict[str, str] = {}
compared = 0
for op in chosen:
    for call, dtype, grad, most in jobs(op, mode):
        name = f"{op.name}{'.' * bool(op.variant_test_name)}{op.variant_test_name}"
        if os.environ.get("DEVFIX_SHOW"):
            print(name, dtype, file=sys.stderr, flush=True)
        for sample in comparing.samples(op, dtype, grad, most):
            compared += 1
            text = comparing.compare(op, call, sample, grad, mode == "inplace", device)
            if any(words in text for words in comparing.REFUSALS[device]) or (
                device == "cuda" and cuda_refusals.expected(op, dtype, sample, grad, text)
            ):
                refused.setdefault(name, f"{dtype}: {text}")
                continue
            if text and os.environ.get("DEVFIX_SHOW"):
                print(f"DIFFERS {name} {dtype}: {text}", file=sys.stderr, flush=True)
            if text:
                differences.setdefault(name, f"{dtype}: {text}")
found = {"operators": len(chosen), "compared": compared, "refused": refused, "differences": differences}
print(json.dumps(found))
