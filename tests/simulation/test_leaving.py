"""No patch outlives its world: what the probe replaces in any module is put back when the world is left."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PROGRAM = Path(__file__).parent / "leaving.py"


@pytest.mark.parametrize("device", ["cuda", "mps", "xpu"])
def test_leaving_a_world_puts_everything_back(device: str) -> None:
    done = subprocess.run([sys.executable, str(PROGRAM), device], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {"simulated 0": [], "cpu 1": [], "simulated 2": []}
