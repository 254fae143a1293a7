"""Constructors take their arguments by keyword on a simulated GPU as anywhere else."""

import subprocess
import sys
from pathlib import Path

import pytest
from json_programs import result_of

PROGRAM = Path(__file__).parent / "constructors.py"


@pytest.mark.slow
def test_all_constructors_take_all_arguments_by_keyword() -> None:
    assert result_of(PROGRAM)["wrong"] == {}


@pytest.mark.slow
def test_every_operator_that_makes_a_tensor_on_a_device_is_tried() -> None:
    assert result_of(PROGRAM)["missing"] == []


OF_A_CLASS = """
import sys
import torch
from devfix.probe.simulation import world

class Tag(torch.Tensor):
    pass

def made():
    for args in (([1.0, 2.0],), (2,), (2, 3), (torch.Size([2]),), (torch.ones(2),), (Tag([1.0]),), ()):
        yield Tag(*args)

plain = [(type(x), x.shape, x.dtype, x._is_view()) for x in made()]
original = torch.Tensor.__new__
for kind in ("cpu", "simulated", "cpu"):
    world.enter(kind, 2)
    assert [(type(x), x.shape, x.dtype, x._is_view()) for x in made()] == plain, kind
world.leave()
assert torch.Tensor.__new__ == original
assert [(type(x), x.shape, x.dtype, x._is_view()) for x in made()] == plain
"""


@pytest.mark.slow
def test_constructors_of_tensor_classes_work_in_all_worlds() -> None:
    done = subprocess.run([sys.executable, "-c", OF_A_CLASS], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
