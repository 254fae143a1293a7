"""Programs for tests of the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

MOVED = "import torch\nx = torch.ones(2, device='cuda')\nprint((x + 1).sum().item())\n"


def repair(root: Path, *arguments: str, run: str = "python main.py") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "devfix", "repair", str(root), "--world", "simulated", "--run", run, *arguments]
    return subprocess.run(command, capture_output=True, text=True)
