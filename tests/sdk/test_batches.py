"""Tensors that come together, moved together where they are unpacked or held."""

from __future__ import annotations

import pytest
from mismatch_factory import after, meeting, tensor, use_site

from devfix.model import ScopeVariable
from devfix.sdk.fixes.batches import move_batch

UNPACKED = """def f(x, replay, device):
    mask, other = replay.sample(4)
    y = x + mask
    return y * other
"""


def moved(
    code: str, failing: str, *names: str, expression: str = "mask", objects: tuple[ScopeVariable, ...] = ()
) -> list[str]:
    scope = [*(tensor(name) for name in names), *objects]
    diagnosis, source = meeting(code, failing, expression, scope)
    site = use_site(diagnosis, expression)
    changes = list(move_batch(diagnosis, site, source))
    assert all(each.joint for each in changes)
    return [after(each) for each in changes]


def test_all_that_a_statement_unpacks() -> None:
    found = moved(UNPACKED, "x + mask", "other")
    assert found[0] == UNPACKED.replace("replay.sample(4)", "(each.to(x.device) for each in replay.sample(4))")


def test_only_what_is_on_the_wrong_device_and_used() -> None:
    code = UNPACKED.replace("mask, other =", "mask, other, name, unused =")
    found = moved(code, "x + mask", "other", "unused")
    line = "    mask, other = mask.to(x.device), other.to(x.device)\n"
    assert found[0] == code.replace("replay.sample(4)\n", "replay.sample(4)\n" + line)


def test_what_a_loop_hands_out_each_turn() -> None:
    loop = "    for i, (mask, other) in enumerate(loader):\n"
    code = f"def f(x, loader):\n{loop}        y = x + mask\n        z = y * other\n"
    found = moved(code, "x + mask", "other")
    assert f"{loop}        mask, other = mask.to(x.device), other.to(x.device)\n" in found[0]


@pytest.mark.parametrize("use", ["other.to(x.device)", "other.tolist()", "other.cpu()", "1"])
def test_what_is_moved_already_or_read_on_the_host_stays(use: str) -> None:
    assert moved(UNPACKED.replace("y * other", use), "x + mask", "other") == []


@pytest.mark.parametrize(
    ("given", "asked"),
    [("", "if third is not None:\n        y = y + third"), (", third=None", "y = y + third"), ("", "y = y + third")],
)
def test_what_may_be_none_in_another_call_stays(given: str, asked: str) -> None:
    code = UNPACKED.replace("mask, other =", "mask, other, third =").replace("replay, device", f"replay{given}")
    code = code.replace("    return", f"    {asked}\n    return")
    found = moved(code, "x + mask", "other", "third")
    is_optional = "None" in code
    assert ("third.to(" in found[0]) is False
    assert ("(each.to(x.device)" in found[0]) is not is_optional


def test_one_tensor_alone_is_no_batch() -> None:
    assert moved(UNPACKED, "x + mask") == []


def test_what_a_dictionary_holds() -> None:
    code = "def f(x, make):\n    batch = make()\n    y = x + batch['mask']\n    return y * batch['other']\n"
    found = moved(code, "x + batch['mask']", 'batch["other"]', expression='batch["mask"]')
    line = "    batch = {key: value.to(x.device) for key, value in batch.items()}\n"
    assert found[0] == code.replace("    y = x", line + "    y = x")


def test_what_a_dictionary_holds_under_numbers() -> None:
    """Its elements look like those of a list."""
    code = "def f(x, make):\n    stages = make()\n    y = x + stages[0]\n    return y * stages[1]\n"
    numbered = ScopeVariable("stages", "dictionary", "", "dict")
    found = moved(code, "x + stages[0]", "stages[1]", expression="stages[0]", objects=(numbered,))
    line = "    stages = {key: value.to(x.device) for key, value in stages.items()}\n"
    assert found[0] == code.replace("    y = x", line + "    y = x")


@pytest.mark.parametrize(
    ("imports", "test"),
    [
        ("import torch\n", "isinstance(value, torch.Tensor)"),
        ("from torch import Tensor\n", "isinstance(value, Tensor)"),
        ("", 'hasattr(value, "to")'),
    ],
)
def test_what_else_a_dictionary_holds_stays(imports: str, test: str) -> None:
    code = f"{imports}def f(x, make):\n    batch = make()\n    y = x + batch['mask']\n    return y * batch['other']\n"
    mixed = ScopeVariable("batch", "container", "")
    found = moved(code, "x + batch['mask']", 'batch["other"]', expression='batch["mask"]', objects=(mixed,))
    assert f"{{key: value.to(x.device) if {test} else value for key, value in batch.items()}}" in found[0]


@pytest.mark.parametrize("use", ["batch['other'].to(x.device)", "batch['other'].tolist()"])
def test_a_dictionary_of_which_one_is_moved_alone_is_left_alone(use: str) -> None:
    code = f"def f(x, make):\n    batch = make()\n    y = x + batch['mask']\n    return y, {use}\n"
    assert moved(code, "x + batch['mask']", 'batch["other"]', expression='batch["mask"]') == []


def test_what_an_attribute_holds_in_a_list_for_all_methods() -> None:
    code = (
        "class A:\n    def __init__(self):\n        self.tables = [a, b]\n\n    def f(self, x):\n"
        "        y = x + self.tables[0]\n        return self.g(y)\n\n"
        "    def g(self, y):\n        return y + self.tables[1]\n"
    )
    found = moved(code, "x + self.tables[0]", "self.tables[1]", expression="self.tables[0]")
    line = "        self.tables = [each.to(x.device) for each in self.tables]\n"
    assert found[0] == code.replace("        y = x", line + "        y = x")


def test_what_a_parameter_list_may_be_in_its_place_is_moved_into_a_local_name() -> None:
    code = (
        "class A:\n    def __init__(self, learn):\n        self.tables = [a, b]\n        if learn:\n"
        "            self.tables = nn.ParameterList(self.tables)\n\n    def f(self, x):\n"
        "        y = x + self.tables[0]\n        return y * self.tables[1]\n"
    )
    found = moved(code, "x + self.tables[0]", "self.tables[1]", expression="self.tables[0]")
    line = "        tables = [each.to(x.device) for each in self.tables]\n"
    expected = code.replace("        y = x", line + "        y = x")
    assert found[0] == expected.replace("self.tables[0]", "tables[0]").replace("self.tables[1]", "tables[1]")


def test_an_attribute_is_not_moved_as_a_whole_in_each_step_of_a_loop_over_devices() -> None:
    """A loop that yields the container moves another one each time."""
    code = (
        "class A:\n    def __init__(self):\n        self.tables = [a, b]\n\n    def f(self, rows):\n"
        "        for x in rows:\n            y = x + self.tables[0]\n        return self.tables[1]\n"
    )
    assert moved(code, "x + self.tables[0]", "self.tables[1]", expression="self.tables[0]") == []
    code = "def f(x, rows):\n    for batch in rows:\n        y = x + batch[0]\n        z = y * batch[1]\n"
    assert len(moved(code, "x + batch[0]", "batch[1]", expression="batch[0]")) == 1


def test_a_container_that_came_as_an_argument_is_left_to_who_made_it() -> None:
    code = "def f(x, batch):\n    y = x + batch[0]\n    return y * batch[1]\n"
    assert moved(code, "x + batch[0]", "batch[1]", expression="batch[0]") == []


def test_a_container_of_which_some_lie_elsewhere_is_left_alone() -> None:
    code = "def f(x, make):\n    batch = make()\n    y = x + batch[0]\n    return y * batch[1]\n"
    assert moved(code, "x + batch[0]", expression="batch[0]") == []


FIELDS = """def f(x, make):
    batch = make()
    y = x + batch.mask
    return y * batch.other
"""
BATCH = (ScopeVariable("batch", "instance", "", "Batch"),)


def with_fields(code: str, *names: str, objects: tuple[ScopeVariable, ...] = BATCH) -> list[str]:
    return moved(code, "x + batch.mask", *names, expression="batch.mask", objects=objects)


def test_the_fields_of_an_object() -> None:
    found = with_fields(FIELDS, "batch.other", "batch.unused")
    lines = "    batch.mask = batch.mask.to(x.device)\n    batch.other = batch.other.to(x.device)\n"
    assert found[0] == FIELDS.replace("    y = x", lines + "    y = x")


def test_all_fields_of_an_object_that_is_passed_on_too() -> None:
    found = with_fields(FIELDS.replace("y * batch.other", "loss(y, batch)"), "batch.other")
    assert "    batch.other = batch.other.to(x.device)\n" in found[0]


def test_an_object_whose_class_has_a_move_of_its_own() -> None:
    code = "class Batch:\n    def to(self, device):\n        return self\n\n\n" + FIELDS
    found = with_fields(code, "batch.other")
    assert found[0] == code.replace("    y = x", "    batch = batch.to(x.device)\n    y = x")


def test_the_fields_of_a_named_tuple() -> None:
    found = with_fields(FIELDS, "batch.other", objects=())
    moves = [
        "batch._make(each.to(x.device) for each in batch)",
        "batch._replace(mask=batch.mask.to(x.device), other=batch.other.to(x.device))",
    ]
    assert found[:2] == [FIELDS.replace("    y = x", f"    batch = {move}\n    y = x") for move in moves]


def test_an_object_that_a_loop_yields_is_moved_in_each_turn() -> None:
    code = "def f(x, loader):\n    for batch in loader:\n        y = x + batch.mask\n        z = y * batch.other\n"
    found = with_fields(code, "batch.other")
    assert "in loader:\n        batch.mask = batch.mask.to(x.device)\n        batch.other = " in found[0]


@pytest.mark.parametrize(
    "code",
    [
        FIELDS.replace("make", "batch", 1).replace("    batch = make()\n", ""),
        FIELDS.replace("batch.other", "batch.other.to(x.device)"),
        FIELDS.replace("batch.other", "batch.other.tolist()"),
        FIELDS.replace(" * batch.other", ""),
        "import batch\n\n\n" + FIELDS.replace("    batch = make()\n", ""),
    ],
    ids=["parameter", "moved alone", "read on the host", "one field alone", "imported"],
)
def test_fields_that_are_left_alone(code: str) -> None:
    assert with_fields(code, "batch.other") == []


@pytest.mark.parametrize("kind", ["module", "optimizer"])
def test_modules_are_no_batches(kind: str) -> None:
    assert with_fields(FIELDS, "batch.other", objects=(ScopeVariable("batch", kind, "cpu", "Net"),)) == []  # type: ignore[arg-type]
