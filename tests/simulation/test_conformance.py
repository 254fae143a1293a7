"""The simulation against what real GPUs did, where that was recorded; and the recorder against the simulation."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from devfix.probe.conformance import __main__ as conformance
from devfix.probe.conformance import recordings

ROOT = Path(__file__).parents[2]
RECORDINGS = sorted((ROOT / "corpus").glob("*-truth/*.json"))
NUMBERS = torch.__version__.split("+")[0]


SNIPPETS = ROOT / "tests" / "simulation"


def run(*arguments: str, snippets: Path = SNIPPETS) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "devfix.probe.conformance", *arguments, "--snippets", str(snippets)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.exhaustive
@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_does_what_the_gpu_did(recording: Path) -> None:
    told = recordings.read(recording)
    if told["torch"].split("+")[0] != NUMBERS:
        pytest.skip(f"this recording is of torch {told['torch']}")
    done = run("compare", str(recording))
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]


@pytest.mark.exhaustive
def test_the_recorder_records_the_simulation(tmp_path: Path) -> None:
    file = tmp_path / "simulated.json"
    done = run("record", str(file), "--world", "simulated", "--samples", "1")
    assert done.returncode == 0, done.stderr[-3000:]
    told = recordings.read(file)
    assert told["torch"] == torch.__version__ and told["world"] == "simulated" and len(told["gpus"]) == 2
    assert len(told["snippets"]) >= 150 and set(told["operators"]) >= {"cpu in cuda:0", "cuda:0 in cpu"}
    assert run("compare", str(file)).returncode == 0


@pytest.mark.slow
def test_a_recording_of_a_few_operators_is_what_comes_again(tmp_path: Path) -> None:
    file, few = tmp_path / "few.json", tmp_path / "snippets"  # all of them run in test_snippets.py
    few.mkdir()
    shutil.copy(SNIPPETS / "making.snippets", few)
    options = ("--world", "simulated", "--samples", "1", "--only", "addmm", "where", "add")
    done = run("record", str(file), *options, snippets=few)
    assert done.returncode == 0, done.stderr[-3000:]
    told = recordings.read(file)
    assert told["snippets"] and all(title.startswith("making: ") for title in told["snippets"])
    rows = told["operators"]["cpu in cuda:0"]
    assert set(rows) >= {"addmm", "where", "add"} and all(text != "ok" for text in rows["addmm"].values())
    assert run("compare", str(file), snippets=few).returncode == 0
    told["operators"]["cpu in cuda:0"]["addmm"] = dict.fromkeys(rows["addmm"], "ok")
    recordings.write(file, told)
    done = run("compare", str(file), snippets=few)
    assert done.returncode == 1 and "cpu in cuda:0: addmm" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("device", "gpus", "refused"), [("mps", 1, True), ("xpu", 2, False)])
def test_other_kinds_are_recorded_and_compared_likewise(tmp_path: Path, device: str, gpus: int, refused: bool) -> None:
    file = tmp_path / "few.json"
    options = ("--world", "simulated", "--device", device, "--samples", "1", "--only", "add", "where")
    done = run("record", str(file), *options)
    assert done.returncode == 0, done.stderr[-3000:]
    told = recordings.read(file)
    assert told["device"] == device and len(told["gpus"]) == gpus
    assert (f"{device}:1 in {device}:0" in told["operators"]) == (gpus == 2)
    assert told["snippets"] and all(title.startswith(device) for title in told["snippets"])
    rows = told["operators"][f"{device}:0 alone"]["add"]
    assert rows["sample 0, torch.float32"] == "ok"
    assert rows["sample 0, torch.float64"].startswith("not moved: TypeError" if refused else "ok")
    told["operators"][f"{device}:0 alone"]["add"]["sample 0, torch.float32"] = "RuntimeError: no"
    recordings.write(file, told)
    done = run("compare", str(file))
    assert done.returncode == 1 and f"{device}:0 alone: add, sample 0, torch.float32" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 rows differ", "everything else comes again"


@pytest.mark.slow
@pytest.mark.parametrize("device", ["mps", "xpu"])
def test_says_that_there_is_no_gpu_of_that_kind(tmp_path: Path, device: str) -> None:
    if conformance.real_gpus(device):
        pytest.skip(f"there is {device} here")
    done = run("record", str(tmp_path / "real.json"), "--device", device)
    assert done.returncode == 2 and f"there is no GPU of the kind {device} here" in done.stderr


def test_tells_a_changed_row() -> None:
    before = {"operators": {"cpu in cuda:0": {"add": {"sample 0": "ok"}}}, "snippets": {"a": "ok", "b": "ok"}}
    after = {"operators": {"cpu in cuda:0": {"add": {"sample 0": "RuntimeError: no"}}}, "snippets": {"a": "ok"}}
    assert conformance.differences(before, before) == []
    assert conformance.differences(before, after) == [
        "cpu in cuda:0: add, sample 0: ok | RuntimeError: no",
        "snippet b: ok | not recorded",
    ]


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU here")
def test_says_that_there_is_no_gpu(tmp_path: Path) -> None:
    done = run("record", str(tmp_path / "real.json"))
    assert done.returncode == 2 and "there is no GPU here" in done.stderr
