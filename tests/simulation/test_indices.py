"""Elements are read and written on a simulated GPU as on the CPU, by every kind of index, with the same errors."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "indices.py"


@pytest.mark.slow
def test_every_index_gives_what_it_gives_on_the_host() -> None:
    done = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    count, differing = json.loads(done.stdout.splitlines()[-1])
    assert count > 3000 and differing == {}
