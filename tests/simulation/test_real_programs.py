"""Programs as people write them compute the same numbers on simulated GPUs as on the CPU."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

for needed in ("transformers", "diffusers", "accelerate"):
    pytest.importorskip(needed)
PROGRAM = Path(__file__).parent / "programs.py"
NAMES = (
    "llama", "mistral", "qwen2", "gpt2", "gemma", "mixtral", "bert", "roberta", "distilbert", "t5", "bart", "vit",
    "resnet", "convnext", "whisper", "wav2vec2", "diffusers", "device_map", "loop", "rnn",
)  # fmt: skip


@cache
def numbers(kind: str) -> dict[str, Any]:
    """What every program computed, in one process."""
    done = subprocess.run([sys.executable, str(PROGRAM), kind], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith('["'))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES)
def test_computes_the_same(name: str) -> None:
    plain, simulated = numbers("cpu")[name], numbers("simulated")[name]
    assert "error" not in plain, plain
    assert simulated == plain
