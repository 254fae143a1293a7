"""The simulation against what PyTorch's CUDA library answers for each operator of PyTorch's database.

`benchmarks/cuda_library.py --record` has written the recording, with a runtime that computes nothing in place of
CUDA's: it has what PyTorch's host code decides, and not what kernels, cuDNN and NCCL do.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from devfix.probe.conformance import recordings

ROOT = Path(__file__).parents[2]
RECORDING = ROOT / "corpus" / "cuda-library" / "2.13.0.json"
NUMBERS = torch.__version__.split("+")[0]
PARTS = 4
# The simulation has no compiler for the source of kernels, so that their mixtures are not reached.
NOT_REACHED = "jiterator"
# The same refusal in other words: of a kernel that the simulation does not tell from another one (cuDNN's), with a path
# in the machine that built the wheel, or with the devices in another order.
OTHER_WORDS = frozenset(
    (
        *("native_batch_norm", "nn.functional.grid_sample", "nn.functional.mse_loss", "nn.functional.smooth_l1_loss"),
        "torch._scaled_mm_v2",
    )
)


def test_the_recording_says_what_it_is_of() -> None:
    told = recordings.read(RECORDING)
    assert "computes nothing" in told["world"] and "not a GPU" in told["world"]
    rows = {devices: sum(map(len, found.values())) for devices, found in told["operators"].items()}
    assert set(rows) == {"cpu in cuda:0", "cuda:0 in cpu", "cuda:1 in cuda:0", "cuda:0 alone"}
    assert all(count > 1000 for count in rows.values()) and rows["cuda:0 alone"] > 5000
    texts = {text for found in told["operators"].values() for rows in found.values() for text in rows.values()}
    assert "ok" in texts and len(texts) > 300
    assert RECORDING.stat().st_size < 1_000_000


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    rows = {"sample 0, tensor 0 (1-dim)": "RuntimeError: no", "sample 0, tensor 1 (0-dim)": "ok"}
    told = {"torch": "1", "operators": {"cpu in cuda:0": {"add": rows, "sub": rows}}, "snippets": {"a": "ok"}}
    recordings.write(tmp_path / "one.json", told)
    assert recordings.read(tmp_path / "one.json") == told


@pytest.mark.slow
@pytest.mark.skipif(RECORDING.stem != NUMBERS, reason="the recording is of another release")
@pytest.mark.parametrize("part", range(PARTS))
def test_operators_answer_as_the_library(part: int) -> None:
    script = Path(__file__).with_name("run_library_rows.py")
    command = [sys.executable, str(script), str(RECORDING), str(part), str(PARTS)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-2000:]
    *lines, compared = done.stdout.splitlines()
    assert int(compared) > 1500
    wrong = []
    for name, devices, row, library, simulation in map(json.loads, lines):
        if simulation == "not reached":
            known = name.startswith(NOT_REACHED)
        else:
            both_refuse = "ok" not in (library, simulation)
            known = both_refuse and name in OTHER_WORDS
        if not known:
            wrong.append(f"{devices}: {name}, {row}: {library} | {simulation}")
    assert not wrong, "\n".join(wrong)
