"""Run a program of the tests that prints what it found as JSON in its last line."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any


@cache
def result_of(program: Path) -> dict[str, Any]:
    """Return what a program found; it is run once."""
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
