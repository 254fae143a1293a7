"""Handlers of `__torch_function__` hear of the functions that `torch` shows, also of those that the probe replaces."""

from pathlib import Path

import pytest
from json_programs import result_of

pytest.importorskip("torch.testing._internal.generated.annotated_fn_args", exc_type=ImportError)
PROGRAM = Path(__file__).parent / "identities.py"


@pytest.mark.slow
def test_handlers_hear_of_what_torch_shows() -> None:
    assert result_of(PROGRAM)["wrong"] == {}


@pytest.mark.slow
def test_every_replaced_function_is_tried() -> None:
    # PyTorch itself tells no handler of `set_`.
    assert set(result_of(PROGRAM)["untried"]) <= {"torch.Tensor.set_"}
    assert result_of(PROGRAM)["tried"] > 1000 and result_of(PROGRAM)["changed"] > 200


@pytest.mark.slow
def test_a_world_that_is_entered_again_shows_the_same_functions() -> None:
    assert result_of(PROGRAM)["other"] == []


@pytest.mark.slow
def test_leaving_the_world_shows_the_functions_of_pytorch() -> None:
    assert result_of(PROGRAM)["left"] == []
