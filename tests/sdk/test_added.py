"""What is added to a tensor is moved as a result, with what the statements below add to tensors beside it."""

from __future__ import annotations

import pytest
from mismatch_factory import after, meeting, tensor, use_site

from devfix.model import NameRef, Operand
from devfix.sdk.fixes.call_result import move_added

SUMS = "class C:\n    def f(self, mask):\n        self.x += mask.sum()\n"


def moved(code: str, failing: str, *beside: str, names: tuple[NameRef, ...] = ()) -> list[str]:
    """The changes for what is added to `self.x`; `beside` are tensors on its device."""
    scope = [tensor(each, "cuda:0") for each in ("self.x", *beside)]
    diagnosis, source = meeting(code, failing, "mask", scope, op="aten::add_")
    kept = Operand("self", "cuda:0", shape=(3,), names=(NameRef(0, "self.x"),))
    added = Operand("other", "cpu", shape=(), names=names)
    object.__setattr__(diagnosis.failure, "operands", (kept, added))
    return [after(each) for each in move_added(diagnosis, use_site(diagnosis, "mask"), source)]


@pytest.mark.parametrize("statement", ["self.x += mask.sum()", "self.x = self.x + mask.sum()"])
def test_a_result_without_a_name_is_moved_where_it_is_added(statement: str) -> None:
    code = f"class C:\n    def f(self, mask):\n        {statement}\n"
    failing = statement if "+=" in statement else "self.x + mask.sum()"
    assert moved(code, failing)[0] == code.replace("mask.sum()", "mask.sum().to(self.x.device)")


def test_what_is_added_below_goes_with_it() -> None:
    below = "        self.y += (mask * mask).sum()\n        self.n += len(mask)\n        self.m += mask.shape[0]\n"
    expected = SUMS.replace("sum()", "sum().to(self.x.device)") + below.replace("sum()", "sum().to(self.x.device)")
    assert moved(SUMS + below, "self.x += mask.sum()", "self.y")[:2] == [
        expected,
        SUMS.replace("sum()", "sum().to(self.x.device)") + below,
    ]


@pytest.mark.parametrize(
    "below",
    [
        "        y += mask.sum()\n",  # of another object
        "        self.y += self.x.sum()\n",  # there already
        "        self.y += mask.sum().to(self.x.device)\n",
        "        self.y += mask.shape[0]\n",
        "        self.z += mask.sum()\n",  # no tensor, or one that is elsewhere
        "        self.y = mask.sum()\n",
    ],
)
def test_other_statements_below_stay(below: str) -> None:
    assert moved(SUMS + below, "self.x += mask.sum()", "self.y", "y")[0] == (
        SUMS.replace("sum()", "sum().to(self.x.device)") + below
    )


def test_what_was_added_above_did_not_fail() -> None:
    above = SUMS.replace("        self.x +=", "        self.y += mask.mean()\n        self.x +=")
    assert moved(above, "self.x += mask.sum()", "self.y")[0] == above.replace("sum()", "sum().to(self.x.device)")


def test_a_name_is_moved_by_its_name_and_a_move_is_changed_elsewhere() -> None:
    named = SUMS.replace("mask.sum()", "mask")
    assert moved(named, "self.x += mask", names=(NameRef(0, "mask"),)) == []
    assert moved(SUMS.replace("sum()", "cpu()"), "self.x += mask.cpu()") == []


def test_an_operator_within_the_value_is_another_failure() -> None:
    code = SUMS.replace("mask.sum()", "(self.x * mask).sum()")
    assert moved(code, "self.x * mask") == []


WRITTEN = "class C:\n    def f(self, mask, i):\n        self.x[i] = mask.sum()\n"


@pytest.mark.parametrize("failing", ["self.x[i] = mask.sum()", "self.x[i]"])
def test_what_is_written_into_an_element_follows_its_tensor(failing: str) -> None:
    assert moved(WRITTEN, failing)[0] == WRITTEN.replace("sum()", "sum().to(self.x.device)")


def test_a_name_that_is_written_into_an_element_is_moved_by_itself() -> None:
    named = WRITTEN.replace("mask.sum()", "mask")
    assert moved(named, "self.x[i] = mask", names=(NameRef(0, "mask"),)) == []
    assert moved(WRITTEN.replace("self.x[i]", "other[i]"), "other[i] = mask.sum()") == []
