"""What an operand was computed from, and which attribute keeps it."""

from __future__ import annotations

from dataclasses import replace

from mismatch_factory import tensor

from devfix.model import Event, Failure, Frame, NameRef, Operand, ScopeVariable, SourceLocation
from devfix.sdk.trace.derived import begins, derived_in_frame, stored_attributes

AT = SourceLocation("m.py", 9, "use", 9, 4, 20, owned=True)
CREATION = Event("factory", "aten::ones", "cpu", (SourceLocation("m.py", 3, "use", 3, 8, 22, owned=True), AT))
MOVE = Event("move", "aten::_to_copy", "cpu", (AT,))
EQUAL = Event("op", "aten::eq", "cpu", (AT,))
NET = ScopeVariable("self", "module", "cuda:0", "Net")


def failure(*scope: ScopeVariable) -> Failure:
    return Failure("device-mismatch", "RuntimeError", "…", "aten::add", (Frame(AT), Frame(AT, scope)), ())


def named(name: str, *history: Event, **fields: object) -> ScopeVariable:
    return tensor(name, history=history, **fields)


def test_a_history_goes_on_from_a_shorter_one_that_is_the_same_so_far() -> None:
    elsewhere = Event("factory", "aten::ones", "cpu", (AT,))
    nowhere = Event("factory", "aten::ones", "cpu")
    assert begins((CREATION, EQUAL), (CREATION,))
    assert begins((CREATION, MOVE, EQUAL), (CREATION, MOVE))
    assert not begins((CREATION, EQUAL), (CREATION, EQUAL))
    assert not begins((CREATION,), (CREATION, EQUAL))
    assert not begins((CREATION,), ())
    assert not begins((CREATION, EQUAL), (elsewhere,))
    assert not begins((CREATION, EQUAL, EQUAL), (CREATION, MOVE))
    assert not begins((nowhere, EQUAL), (nowhere,))
    # One helper made both, but was called from two places.
    assert not begins((CREATION, EQUAL), (replace(CREATION, places=CREATION.places[:1]),))


def test_what_an_operand_was_made_of_nearest_first() -> None:
    operand = Operand("other", "cpu", history=(CREATION, MOVE, EQUAL))
    scope = (
        named("far", CREATION),
        named("a.b", CREATION, MOVE),
        named("longer", CREATION, MOVE),
        named("near", CREATION, MOVE),
        named("elsewhere", CREATION, device="cuda:0"),
        named("itself", CREATION, MOVE, EQUAL),
        named("unknown"),
        ScopeVariable("owner", "object", "cpu", history=(CREATION,)),
    )
    assert [each.expression for each in derived_in_frame(failure(*scope), operand, 1)] == [
        "near",
        "longer",
        "a.b",
        "far",
    ]
    assert [derived_in_frame(failure(*scope), operand, frame) for frame in (-1, 0, 2)] == [[], [], []]


def test_what_the_trace_names_comes_first_and_needs_no_history() -> None:
    """Of a variable only its creation and its moves are recorded, so that two made alike have one history."""
    copied = Event("op", "copy.deepcopy", "cpu", (AT,))
    sources = (NameRef(1, "shadow['b']"), NameRef(0, "far"), NameRef(1, "average"))
    operand = Operand("other", "cpu", history=(CREATION, copied, MOVE, EQUAL), sources=sources)
    scope = (
        named("far", CREATION),
        named("average", CREATION, MOVE),
        named("shadow['a']", CREATION, MOVE),
        named("shadow['b']", CREATION, MOVE),
    )
    assert [each.expression for each in derived_in_frame(failure(*scope), operand, 1)] == [
        "shadow['b']",
        "average",
        "far",
    ]


def attributes(*scope: ScopeVariable, names: tuple[str, ...] = ()) -> list[tuple[str, str, str]]:
    operand = Operand("other", "cpu", names=tuple(NameRef(1, name) for name in names), history=(CREATION, EQUAL))
    found = stored_attributes(failure(*scope), operand)
    assert {each.frame for each in found} <= {1}
    return [(each.whole, each.attribute, each.module.expression if each.module else "") for each in found]


def test_the_attribute_that_keeps_an_operand_or_what_it_was_made_of() -> None:
    assert attributes(NET, named("self.mask", CREATION)) == [("self", "mask", "self")]
    assert attributes(NET, named("self.mask", CREATION, EQUAL), names=("self.mask",)) == [("self", "mask", "self")]
    assert attributes(NET, named("self.masks[0]", CREATION)) == [("self", "masks", "self")]
    assert attributes(NET, named("self.body.mask", CREATION)) == [("self.body", "mask", "")]
    assert attributes(ScopeVariable("self", "object", ""), named("self.mask", CREATION)) == [("self", "mask", "")]


def test_neither_a_name_nor_a_parameter_nor_what_is_out_of_scope_is_such_an_attribute() -> None:
    assert attributes(NET, named("mask", CREATION)) == []
    assert attributes(NET, named("self.weight", CREATION, type="Parameter")) == []
    assert attributes(NET, names=("self.mask",)) == []
