"""Every C function of CUDA builds that `torch.cuda` calls exists in a world with simulated GPUs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_no_function_of_the_driver_is_missing() -> None:
    command = [sys.executable, str(Path(__file__).parent / "driver_names.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["missing"] == [] and found["called"] > 60
