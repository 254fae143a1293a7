"""Give operators the wrong inputs of PyTorch's database on a simulated GPU, and compare the errors with those it names.

Prints, as JSON, the operators whose errors differ, with what was raised, and how many inputs were tried.
"""

import json
import re
import warnings
from typing import Any

import torch

from devfix.probe.simulation import world

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
world.enter("simulated", 1)

from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402 - it asks how many GPUs there are


def raised(op: Any, sample: Any) -> Exception | None:
    try:
        op.op(sample.input, *sample.args, **sample.kwargs)
    except Exception as error:
        return error
    return None


differences: dict[str, str] = {}
tried = 0
for op in op_db:
    if op.error_inputs_func is None:
        continue
    for wrong in op.error_inputs("cuda"):
        tried += 1
        error = raised(op, wrong.sample_input)
        if not isinstance(error, wrong.error_type) or not re.search(wrong.error_regex, str(error)):
            differences[op.name] = f"expected {wrong.error_regex!r}, got {type(error).__name__}: {error}"[:300]
print(json.dumps({"tried": tried, "differences": differences}))
