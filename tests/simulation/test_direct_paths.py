"""Constructors on the host that a program gives a generator do not pass the world's dispatcher, and draw the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ENTRY = Path(__file__).resolve().parents[2] / "src" / "devfix" / "probe" / "entry"
PROGRAM = """
import sys, torch

module = lambda name: sys.modules["devfix probe." + name]
randomness, records = module("simulation.accelerators.randomness"), module("provenance.records")
through, regular = [], randomness.run

def run(*args):
    through.append(args)
    return regular(*args)

randomness.run = run
for draw in (torch.rand, torch.randn, lambda *sizes, **given: torch.randint(9, sizes, **given)):
    first, second = (draw(2, 3, generator=torch.Generator().manual_seed(3), device="cpu") for _ in range(2))
    assert torch.equal(first, second) and records.of(first) is not None
    torch.manual_seed(3)
    assert torch.equal(first, draw(2, 3))
assert not through, through
try:
    torch.rand(2, generator=torch.Generator("cuda"))
except RuntimeError as error:
    print(error)
"""


def test_host_generator_needs_no_dispatcher() -> None:
    order = {"world": {"kind": "simulated", "gpus": 1, "current": 0}, "traces": os.devnull}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DEVFIX")}
    given = {**kept, "DEVFIX_PROBE": json.dumps(order), "PYTHONPATH": str(ENTRY)}
    ended = subprocess.run([sys.executable, "-"], input=PROGRAM, env=given, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == "Expected a 'cpu' device type for generator but found 'cuda'\n"
