"""Worlds with other accelerators than CUDA's: small programs, PyTorch's own operators, and what is left behind."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from devfix.model import DeviceType
from devfix.probe.capture.kinds import kind_of
from devfix.probe.conformance import snippets
from devfix.probe.simulation import world
from devfix.probe.simulation.accelerators import kinds

FOLDER = Path(__file__).parent
OTHERS = ("mps", "xpu")
LEAST = {"float32": 4500, "gradients": 3300, "inplace": 250, "dtypes": 9000}  # how many samples each mode has
SNIPPETS = list(snippets.read(FOLDER / "accelerators"))
# What differs and is not refused in words of the device, each with the reason. CUDA's exceptions hold for XPU.
EXCEPTIONS = {
    "mps": {
        "sparse.mm.reduce": "no device has a kernel for it",
        "nn.functional.linear_cross_entropy": "composite: accumulates half precision otherwise on the CPU",
    },
    "xpu": {
        "sparse.mm.reduce": "no device has a kernel for it",
        "histogramdd": "XPU has no kernel for it",
        "nn.functional.linear_cross_entropy": "composite: accumulates half precision otherwise on the CPU",
    },
}


@cache
def outcomes(device: str) -> dict[str, str]:
    """What became of each snippet; they share one process, which must live to the end."""
    command = [sys.executable, str(FOLDER / "run_snippets.py"), device]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith('["'))


@pytest.mark.slow
@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: snippet.title)
def test_does_what_the_device_does(snippet: snippets.Snippet) -> None:
    outcome = outcomes(snippet.title.partition(":")[0])[snippet.title]
    assert snippets.agrees(outcome, snippet.expected), f"expected {snippet.expected}\ngot      {outcome}"


def compared(device: str, mode: str, which: str) -> dict[str, Any]:
    """Compare operators of PyTorch's database; what differs must be refused in words of the device, or excepted."""
    command = [sys.executable, str(FOLDER / "run_operators.py"), mode, which, device]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    excepted = tuple(f"{name}." for name in EXCEPTIONS[device])
    other = {name: text for name, text in report["differences"].items() if not f"{name}.".startswith(excepted)}
    assert not other, json.dumps(other, indent=1)
    return report


@pytest.mark.slow
@pytest.mark.parametrize("device", OTHERS)
def test_operators_give_what_the_cpu_gives_or_are_refused(device: str) -> None:
    report = compared(device, "float32", "9/4")
    assert report["operators"] > 70 and report["compared"] > 400
    assert (device == "mps") is bool(report["refused"])


@pytest.mark.exhaustive
@pytest.mark.parametrize("mode", LEAST)
@pytest.mark.parametrize("device", OTHERS)
def test_all_operators_give_what_the_cpu_gives_or_are_refused(device: str, mode: str) -> None:
    report = compared(device, mode, "1")
    assert report["operators"] >= 600 and report["compared"] >= LEAST[mode]


@cache
def hiding(device: str) -> dict[str, dict[str, Any]]:
    """What a program sees, in each of several worlds, of a device that the build and its driver have."""
    done = subprocess.run([sys.executable, str(FOLDER / "hiding.py"), device], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    report: dict[str, dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return report


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cpu", "simulated", "cpu again"])
@pytest.mark.parametrize(
    ("device", "words"), [("mps", "The MPS backend is supported on"), ("xpu", "No XPU devices are")]
)
def test_a_real_device_is_hidden_from_the_worlds_without_it(device: str, words: str, name: str) -> None:
    seen = hiding(device)[name]
    assert not seen["available"] and seen["count"] == 0
    assert seen["made"].startswith(f"RuntimeError: {words}") and kind_of(seen["made"]) == "no-device"
    assert seen["accelerators"] == (name == "simulated") and seen["accelerator"] is (name == "simulated")
    assert seen["on the host"] == "1.0"


@pytest.mark.slow
@pytest.mark.parametrize("device", OTHERS)
def test_a_real_device_is_there_in_its_own_world_and_once_worlds_are_left(device: str) -> None:
    told = hiding(device)
    assert told["left"]["available"] and told["left"]["count"] == told["plain"]["count"] > 0
    assert told["its own, simulated"]["made"] == f"tensor([1.], device='{device}:0')"
    if device == "mps":
        assert told["real"] == {**told["plain"], "kind": "mps"}
    else:  # it is made the current device, which only a build for it can do
        assert "_xpu_init" in told["real"]["refused"]
    assert told["real"]["kind"] == device


def test_the_engine_and_the_probe_know_the_same_kinds() -> None:
    assert [each.value for each in DeviceType] == list(kinds.KINDS)
    assert {each.value: each.most for each in DeviceType} == {name: kind.most for name, kind in kinds.KINDS.items()}


@pytest.mark.parametrize(("gpus", "device"), [(2, "mps"), (1, "tpu"), (1, "")])
def test_no_world_has_such_devices(gpus: int, device: str) -> None:
    with pytest.raises(ValueError, match="there is no world with"):
        world.enter("simulated", gpus, device=device)
