"""Which world a session or a test gets, given what the interpreter of the tests sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from devfix.discovery import Interpreter
from devfix.model import DeviceType
from devfix.pytest_gpus.diagnosis_section import repair_command
from devfix.pytest_gpus.world import TooFew, Wanted, settle

MAC = Interpreter(Path("python"), (3, 12, 1), "2.9.0", 1, device=DeviceType.MPS)
INTELS = Interpreter(Path("python"), (3, 12, 1), "2.9.0", 2, device=DeviceType.XPU)
AUTO, REAL = Wanted("auto", 1), Wanted("real", 1)
ON_MAC, ON_XPU = Wanted("real", 1, device="mps"), Wanted("real", 1, device="xpu")


@pytest.mark.parametrize(
    ("wanted", "session", "seen", "world"),
    [
        (REAL, None, MAC, ON_MAC),
        (REAL, None, INTELS, ON_XPU),
        (Wanted("real", 2), None, INTELS, Wanted("real", 2, device="xpu")),
        (Wanted("mps", 1), None, MAC, Wanted("simulated", 1, device="mps")),
        (AUTO, ON_MAC, MAC, ON_MAC),  # the mark of a test, in a session on the real device
        (AUTO, ON_XPU, INTELS, ON_XPU),
        (Wanted("auto", 3), ON_XPU, INTELS, Wanted("simulated", 3, device="xpu")),
        (Wanted("auto", 0), ON_MAC, MAC, Wanted("cpu", 0, device="mps")),
        (AUTO, Wanted("simulated", 2, device="xpu"), MAC, Wanted("simulated", 1, device="xpu")),
    ],
)
def test_the_world_has_the_kind_of_device_that_is_there(
    wanted: Wanted, session: Wanted | None, seen: Interpreter, world: Wanted
) -> None:
    assert settle(wanted, session, lambda: seen) == world


@pytest.mark.parametrize("seen", [MAC, INTELS])
def test_without_a_wish_the_gpus_are_those_of_cuda(seen: Interpreter) -> None:
    assert settle(AUTO, None, lambda: seen) == Wanted("simulated", 1)


@pytest.mark.parametrize(
    ("wanted", "session", "seen", "words"),
    [
        (Wanted("real", 2), None, MAC, "2 GPUs were asked for, and a machine with mps has one"),
        (Wanted("auto", 2), ON_MAC, MAC, "2 GPUs were asked for, and a machine with mps has one"),
        (Wanted("real", 3), None, INTELS, "3 real GPUs were asked for, and this machine has 2"),
    ],
)
def test_a_machine_has_no_more_than_it_has(
    wanted: Wanted, session: Wanted | None, seen: Interpreter, words: str
) -> None:
    with pytest.raises(TooFew, match=words):
        settle(wanted, session, lambda: seen)


def test_the_command_that_repairs_names_the_world_of_the_failure() -> None:
    command = "devfix repair --run 'pytest t.py::test'"
    assert repair_command("t.py::test", (), ON_MAC) == f"{command} --world real"
    assert repair_command("t.py::test", (), Wanted("simulated", 1, device="mps")) == f"{command} --world mps"
    assert repair_command("t.py::test", (), REAL) == command
