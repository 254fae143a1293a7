"""Compare the dtypes that operators take on a simulated GPU with those that PyTorch's database names for CUDA.

Prints, as JSON, the dtypes that differ by operator, and how many pairs of operator and dtype were tried.
"""

import itertools
import json
import warnings
from typing import Any

import torch
from torch.utils._pytree import tree_map

from devfix.probe.simulation import world

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
world.enter("simulated", 2)

from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402 - it asks how many GPUs there are

# Half-precision complex numbers are left out: the database names few of the operators that take them.
DTYPES = (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16)


def moved(value: Any) -> Any:
    return value.cuda() if isinstance(value, torch.Tensor) else value


def outcome(op: Any, dtype: torch.dtype) -> bool | None:
    """Whether all of a few samples are computed; None where the database has no sample of this dtype."""
    try:
        samples = list(itertools.islice(op.sample_inputs("cpu", dtype), 3))
    except Exception:
        return None
    try:
        for sample in samples:
            parts = tree_map(moved, (sample.input, list(sample.args), dict(sample.kwargs)))
            op.op(parts[0], *parts[1], **parts[2])
    except Exception:
        return False
    return True if samples else None


differences: dict[str, list[str]] = {}
tried = 0
for op in op_db:
    for dtype in DTYPES:
        taken = outcome(op, dtype)
        if taken is None:
            continue
        tried += 1
        if taken != (dtype in op.dtypesIfCUDA):
            differences.setdefault(op.name, []).append(f"{dtype}: {'taken' if taken else 'refused'}")
print(json.dumps({"tried": tried, "differences": differences}))
