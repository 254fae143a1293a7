"""Handlers of `__torch_function__` hear of the functions that `torch` shows, also of those that the probe replaces."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch.testing._internal.generated.annotated_fn_args", exc_type=ImportError)
PROGRAM = Path(__file__).parent / "identities.py"


@cache
def outcome() -> dict[str, Any]:
    done = subprocess.run([sys.executable, str(PROGRAM)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.slow
def test_handlers_hear_of_what_torch_shows() -> None:
    assert outcome()["wrong"] == {}


@pytest.mark.slow
def test_every_replaced_function_is_tried() -> None:
    # PyTorch itself tells no handler of `set_`.
    assert set(outcome()["untried"]) <= {"torch.Tensor.set_"}
    assert outcome()["tried"] > 1000 and outcome()["changed"] > 200


@pytest.mark.slow
def test_a_world_that_is_entered_again_shows_the_same_functions() -> None:
    assert outcome()["other"] == []


def test_leaving_the_world_shows_the_functions_of_pytorch() -> None:
    assert outcome()["left"] == []
