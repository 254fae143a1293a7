"""Worlds with other accelerators than CUDA's: small programs, PyTorch's own operators, and what is left behind."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from devfix.model import DeviceType
from devfix.probe.conformance import snippets
from devfix.probe.simulation import kinds, world

FOLDER = Path(__file__).parent
OTHERS = ("mps", "xpu")
SNIPPETS = list(snippets.read(FOLDER / "accelerators"))
# Without an MPS kernel by native_functions.yaml of 2.13 these raise, as on a Mac; CUDA's exceptions hold for XPU.
REFUSED = ("currently implemented for the MPS device", "float64", "to the MPS backend", "only for Floating types")
NO_KERNEL = ("sparse.mm.reduce", "histogram", "histogramdd")
DRIVER = ("linalg.lstsq",)  # the drivers of its samples are those of LAPACK, which no GPU has


@cache
def outcomes(device: str) -> dict[str, str]:
    """What became of each snippet; they share one process, which must live to the end."""
    command = [sys.executable, str(FOLDER / "run_snippets.py"), device]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith("["))


@pytest.mark.slow
@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: snippet.title)
def test_does_what_the_device_does(snippet: snippets.Snippet) -> None:
    outcome = outcomes(snippet.title.partition(":")[0])[snippet.title]
    assert snippets.agrees(outcome, snippet.expected), f"expected {snippet.expected}\ngot      {outcome}"


@pytest.mark.slow
@pytest.mark.parametrize("device", OTHERS)
def test_operators_give_what_the_cpu_gives_or_are_refused(device: str) -> None:
    command = [sys.executable, str(FOLDER / "run_operators.py"), "float32", "9/4", device]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout.splitlines()[-1])
    differences = {name: text for name, text in report["differences"].items() if name not in (*NO_KERNEL, *DRIVER)}
    other = {name: text for name, text in differences.items() if not any(word in text for word in REFUSED)}
    assert not other, json.dumps(other, indent=1)
    assert report["operators"] > 70 and report["compared"] > 400
    assert (device == "mps") is bool(differences)


def test_the_engine_and_the_probe_know_the_same_kinds() -> None:
    assert [each.value for each in DeviceType] == list(kinds.KINDS)
    assert {each.value: each.most for each in DeviceType} == {name: kind.most for name, kind in kinds.KINDS.items()}


@pytest.mark.parametrize(("gpus", "device"), [(2, "mps"), (1, "tpu"), (1, "")])
def test_no_world_has_such_devices(gpus: int, device: str) -> None:
    with pytest.raises(ValueError, match="there is no world with"):
        world.enter("simulated", gpus, device=device)
