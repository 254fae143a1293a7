"""The classes that rules derive from: which operand they blame, how sure they are, and what they leave alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from mismatch_factory import meeting, place, tensor

from devfix.model import Confidence, Event, Finding, ModuleOwner, Safety, ScopeVariable
from devfix.sdk import (
    Change,
    Changes,
    Context,
    CreationRule,
    DeviceSource,
    DeviceSourceRule,
    EvidenceRule,
    FailureRule,
    File,
    OperandRule,
    Site,
    SourceRule,
    Sources,
    rewrite,
)

CODE = """\
def make():
    return zeros(3)

def f(x):
    mask = make()
    return x + mask
"""
MADE, CALLED, FAILING = place(CODE, "zeros(3)", "make"), place(CODE, "make()\n"[:-1]), "x + mask"
CREATION = Event("factory", "aten::zeros", "cpu", (MADE, CALLED))
MOVE = Event("move", "aten::_to_copy", "cpu", (CALLED,))


def context(*history: Event, scope: Sequence[ScopeVariable] = (), **operand: object) -> Context:
    """`x` on the GPU meets `mask`, which is in view."""
    diagnosis, sources = meeting(CODE, FAILING, history=history or (CREATION,), scope=scope)
    first, wrong = diagnosis.failure.operands
    changed = replace(wrong, **operand)  # type: ignore[arg-type]
    failure = replace(diagnosis.failure, operands=(first, changed))
    return Context(failure, sources, diagnosis.finding)


class Left(OperandRule):
    confidence = Confidence.INDIRECT
    message = "{name} {device} {peer} {op} {made_at} {failed_at}"

    def propose(self, ctx: Context) -> Iterator[Change]:
        return iter(())


class Made(CreationRule):
    kinds, confidence_far = ("factory",), Confidence.REMOTE
    message = "{name}"

    def fix(self, ctx: Context, site: Site) -> Iterator[Change]:
        return site.replace({site.node: site.node.with_changes(args=[])}, "Empty it")


def test_the_message_says_what_the_context_knows() -> None:
    found = Left().diagnose(context())
    assert found == Finding(1, "`mask` cpu cuda:0 zeros main.py:2 main.py:6", Confidence.INDIRECT)


def test_what_was_put_there_is_blamed_only_by_a_rule_that_says_so() -> None:
    moved = context(CREATION, MOVE)
    assert moved.is_intentional and Left().diagnose(moved) is None

    class Any(Left):
        reports_intentional = True

    assert Any().diagnose(moved) is not None


@pytest.mark.parametrize(
    ("kind", "needs", "fits"),
    [
        ("", (), True),
        ("device-mismatch", (), True),
        ("fork", (), False),
        ("", ("a.Loader",), True),
        ("", ("b.No",), False),
    ],
)
def test_a_rule_is_restricted_to_a_kind_of_failure_and_to_objects_in_scope(
    kind: str, needs: tuple[str, ...], fits: bool
) -> None:
    class Restricted(Left):
        failure_kind, needs_object = kind, needs

    loader = ScopeVariable("rows", "instance", "", "Loader", classes=("a.b.Loader",))
    assert (Restricted().diagnose(context(scope=[loader])) is not None) is fits


def test_a_tensor_made_far_from_the_right_device_is_weaker_evidence() -> None:
    far = Made().diagnose(context())
    near = Made().diagnose(context(replace(CREATION, places=(CALLED,))))
    assert far is not None and far.confidence is Confidence.REMOTE
    assert near is not None and near.confidence is Confidence.DIRECT


@pytest.mark.parametrize(
    "given",
    [
        context(replace(CREATION, kind="random")),
        context(replace(CREATION, places=())),
        context(owner=ModuleOwner("self", 0, "Net", "mask", "buffer")),
    ],
)
def test_a_creation_of_another_kind_or_place_or_of_a_module_is_left_alone(given: Context) -> None:
    assert Made().diagnose(given) is None


def test_a_creation_is_fixed_where_owned_code_called_the_factory() -> None:
    (made,) = Made().propose(context())
    assert b"return zeros()" in made.edits[0].after


def test_a_file_that_may_not_be_edited_has_no_site() -> None:
    ctx = replace(context(), sources=Sources({}.get))
    assert list(ctx.sites()) == [] and ctx.failing_site() is None and ctx.call_at(MADE) is None
    assert [site.kind for site in context().sites()] == ["creation", "returned", "use"]


def test_a_rule_for_a_kind_of_failure_takes_that_kind_alone() -> None:
    class Mismatch(FailureRule):
        failure_kind, device, message = "device-mismatch", "cpu", "{failed_at}"

        def propose(self, ctx: Context) -> Iterator[Change]:
            return iter(())

    class Forked(Mismatch):
        failure_kind = "fork"

    found = context()
    assert Mismatch().diagnose(found) == Finding(0, "main.py:6", Confidence.DIRECT, "cpu")
    assert Forked().diagnose(found) is None
    assert Mismatch().diagnose(replace(found, failure=replace(found.failure, frames=()))) is None


def test_a_pattern_chooses_failures_by_their_messages_and_gives_words_to_the_reason() -> None:
    class Asked(FailureRule):
        failure_kind, device, message = "device-mismatch", "{wanted}", "{failed_at} wants {wanted}."
        pattern = re.compile(r"expected (?P<wanted>\S+)")

        def propose(self, ctx: Context) -> Changes:
            return iter(())

    found = context()
    asking = replace(found, failure=replace(found.failure, message="expected cuda:1 here"))
    assert Asked().diagnose(asking) == Finding(0, "main.py:6 wants cuda:1.", Confidence.DIRECT, "cuda:1")
    assert Asked().diagnose(found) is None


def test_evidence_gives_the_reason_and_the_change_and_without_it_nothing_is_blamed() -> None:
    class Returned(EvidenceRule[list[Site]]):
        def search(self, ctx: Context) -> list[Site]:
            return list(ctx.creation_sites())

        def describe(self, ctx: Context, found: list[Site]) -> str:
            return f"{ctx.name} comes from line {found[0].place.line}."

        def fix(self, ctx: Context, found: list[Site]) -> Changes:
            return found[0].replace({found[0].node: found[0].node.with_changes(args=[])}, "Empty it")

    assert Returned().diagnose(context()) == Finding(1, "`mask` comes from line 2.", Confidence.DIRECT)
    assert [each.title for each in Returned().propose(context())] == ["Empty it"]
    elsewhere = context(replace(CREATION, places=()))
    assert Returned().diagnose(elsewhere) is None and not [*Returned().propose(elsewhere)]


def test_a_rule_that_reads_the_source_blames_nothing_where_it_finds_nothing() -> None:
    class Text(SourceRule):
        message = "{name}"
        text = "make()"

        def find(self, ctx: Context, file: File) -> Iterator[Change]:
            for node in file.find(file.module, self.text):
                yield from rewrite(file, {node: file.find(file.module, "x")[0]}, "Take the other")

    class Other(Text):
        text = "made()"

    assert Text().diagnose(context()) is not None and [each.title for each in Text().propose(context())] == [
        "Take the other"
    ]
    assert Other().diagnose(context()) is None


def test_a_device_source_is_looked_for_where_owned_code_placed_the_operand() -> None:
    class Named(DeviceSourceRule):
        def rename(self, ctx: Context, found: Sequence[DeviceSource]) -> Iterator[Change]:
            yield Change(found[0].file.code(found[0].call), Safety.SAFE, ())

    class OnGpu(Named):
        only_on = "cuda"

    class BetweenGpus(Named):
        only_between_gpus = True

    ctx = context()
    found = Named().diagnose(ctx)
    assert found is not None and found.reason == "`mask` was put on cpu in main.py:2."
    assert [each.title for each in Named().propose(ctx)] == ["zeros(3)"]
    assert OnGpu().diagnose(ctx) is None and BetweenGpus().diagnose(ctx) is None


def test_another_tensor_takes_the_place_of_the_operand_that_follows_it() -> None:
    other = tensor("table", history=(CREATION,), shape=(5,))
    followed = context(scope=[other]).follow(other)
    assert (followed.name, followed.operand.shape, followed.peer.device) == ("`table`", (5,), "cuda:0")
    assert followed.view_peer().name == "`x`"


PROPERTY = """\
class Net:
    def __init__(self):
        self._scale = zeros(3)

    @property
    def scale(self):
        '''Return it.'''
        return self._scale

    @property
    def doubled(self):
        return 2 * self._scale

    def f(self, x):
        return x + self.scale
"""


@pytest.mark.parametrize(
    ("code", "properties"),
    [
        (PROPERTY, ["self.scale"]),
        (PROPERTY.replace("return self._scale", "log(self); return self._scale"), []),
        (PROPERTY.replace("@property", "@lazy").replace("return self._scale", "return zeros(3)"), ["self.scale"]),
        (PROPERTY.replace("@property", "@staticmethod"), []),
        (f"{PROPERTY}\nclass Net:\n    pass\n", []),
    ],
)
def test_a_property_that_returns_an_attribute_is_a_name_of_it(code: str, properties: list[str]) -> None:
    scope = [tensor("self._scale"), ScopeVariable("self", "module", "cpu", "Net")]
    diagnosis, _ = meeting(code, "x + self.scale", "self._scale", scope=scope, function="Net.f")
    files = {"main.py": code.encode()}
    ctx = Context(diagnosis.failure, Sources(files.get, lambda texts: list(files)), diagnosis.finding)
    (site,) = ctx.uses()
    assert site.expressions == ("self._scale", *properties)
    moved = [each.edits[0].after.decode() for each in site.move_argument()]
    # A side of the failing operation is the operand, by whatever name.
    assert code.replace("x + self.scale", "x + self.scale.to(x.device)") in moved
