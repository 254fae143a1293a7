"""Print, as JSON, the C functions of CUDA builds that PyTorch's Python code calls and a simulated GPU lacks."""

import json
import re
from pathlib import Path

import torch

from devfix.probe.simulation import world

ROOT = Path(torch.__file__).parent
CALLED = re.compile(r"torch\._C\.(_(?:cuda|cudnn|nccl)_\w+|_(?:get|set)_(?:linalg|blas)_\w+|_host_emptyCache)")
world.enter("simulated", 2)
called: set[str] = set()
for part in ("cuda/**/*.py", "backends/cuda/*.py", "backends/cudnn/*.py", "_utils.py", "storage.py", "random.py"):
    for file in ROOT.glob(part):
        called.update(CALLED.findall(file.read_text(encoding="utf-8")))
print(json.dumps({"called": len(called), "missing": sorted(name for name in called if not hasattr(torch._C, name))}))
