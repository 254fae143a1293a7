"""Of several fixes, one that a later one has made needless is taken back; so is one that leads nowhere."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from git_repositories import git, make_repository
from rule_packs import write_rule
from verifier_cases import FIRST, HOME, SOURCE, make_run, patch

import devfix
from devfix.model import Edit, Failure, Fix, Frame, Patch, Repair, Report, SourceLocation, Verdict
from devfix.pipeline.opening.session import Session
from devfix.pipeline.searching.attempt import Attempt
from devfix.pipeline.searching.companions import with_companion
from devfix.pipeline.searching.redundant import patches_with_less, sequences_with_less
from devfix.pipeline.searching.search import Search
from devfix.verification.candidate import CandidateResult
from devfix.verification.edit_map import touches

PROGRAM = """\
import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
place = "cpu"
scale = torch.ones(3, device=place)
bias = torch.full((3,), 2.0, device={bias})
x = torch.ones(3, device=device) * scale
print((x + bias).sum().item())
"""
# Rules of one line each: what fails in an operator is fixed by a text in the place of another.
RULE = '''\
"""A rule of the tests."""

import libcst

from devfix.sdk import Confidence, OperandRule, rewrite


class OneLine(OperandRule):
    confidence = Confidence({confidence})
    reports_intentional = True
    message = "it is on the CPU"

    def matches(self, ctx):
        return ctx.failure.op == "aten::{op}" and ctx.operand.device == "cpu"

    def propose(self, ctx):
        file = ctx.sources.file(ctx.failure.at)
        module = libcst.parse_module(file.module.code.replace({old!r}, {new!r}))
        return rewrite(file, module, "Say another device")
'''
SCALE = {
    "op": "mul",
    "confidence": "1",
    "old": "scale = torch.ones(3, device=place)",
    "new": "scale = torch.ones(3, device=device)",
}


def repaired(folder: Path, bias: str, later: dict[str, str]) -> Report:
    root = make_repository(
        folder / "p", {"main.py": PROGRAM.format(bias=bias), "devfix.toml": 'select = ["acme/first", "acme/later"]\n'}
    )
    for name, words in (("first", SCALE), ("later", {"op": "add", "confidence": "1", **later})):
        write_rule(folder / "rules", name, RULE.format(**words))
    return devfix.repair(root, run="python main.py", world="simulated", rules=[folder / "rules"])


@pytest.mark.slow
def test_a_fix_that_a_later_one_makes_needless_is_taken_back(tmp_path: Path) -> None:
    report = repaired(tmp_path, "place", {"old": 'place = "cpu"', "new": "place = device"})
    assert report.outcome == "repaired", report.notes
    assert len(report.repairs) == len(report.commits) == 1
    repair = report.repairs[0]
    assert repair.failure.op == "aten::mul"
    assert repair.fix is not None and repair.fix.patch.rule == "acme/later"
    assert repair.fix.verdict.outcome == "verified"
    assert [each.verdict.outcome for each in repair.rejected] == ["same-failure"]
    shown = git(Path(report.root), "show", f"{report.branch}:main.py")
    assert shown == PROGRAM.format(bias="place").replace('place = "cpu"', "place = device").strip()


@pytest.mark.exhaustive
def test_two_fixes_stay_where_each_is_needed(tmp_path: Path) -> None:
    report = repaired(tmp_path, '"cpu"', {"old": 'device="cpu"', "new": "device=device"})
    assert report.outcome == "repaired", report.notes
    assert [each.fix and each.fix.patch.rule for each in report.repairs] == ["acme/first", "acme/later"]
    assert len(report.commits) == 2


@pytest.mark.exhaustive
def test_weaker_evidence_that_holds_is_the_way_where_the_stronger_leads_nowhere(tmp_path: Path) -> None:
    report = repaired(
        tmp_path, "place", {"op": "mul", "old": 'place = "cpu"', "new": "place = device", "confidence": "2"}
    )
    assert report.outcome == "repaired", report.notes
    assert [each.fix and each.fix.patch.rule for each in report.repairs] == ["acme/later"]
    assert len(report.commits) == 1


@pytest.mark.parametrize(("last", "fixes"), [(None, 1), (FIRST, 2)])
def test_a_run_that_ends_in_a_failure_takes_no_fix_back(last: Failure | None, fixes: int) -> None:
    every = [Fix(patch(name + SOURCE), Verdict("progressed"), "") for name in (b"a = 1\n", b"b = 2\n")]
    every[1] = Fix(replace(every[1].patch, edits=(Edit("n.py", 1, b"a\n", b"b\n"),)), Verdict("verified"), "")
    loop = Search.__new__(Search)
    loop.session = cast(Session, SimpleNamespace(files={}))
    loop.repairs, loop.is_stuck, loop._simplifications_left, loop._baselines = [], False, 6, {}
    first = replace(FIRST, frames=(*FIRST.frames, Frame(SourceLocation("n.py", 1, "f", owned=True))))
    loop.repairs = [Repair(first, (), fix) for fix in every]
    loop._repair_from = lambda run: run  # type: ignore[method-assign]  # as for a failure that does not come again
    candidate = CandidateResult(every[1].patch, {}, make_run(HOME, last), Verdict("progressed"))
    step = Attempt((), lambda chosen: Repair(FIRST, (), every[1]), lambda confirmed: confirmed, lambda again: candidate)
    clean = make_run(HOME)
    assert loop._drop_redundant_fixes(step, 0, {}, clean) is (candidate.run if fixes == 1 else clean)
    assert len(loop.fixes) == fixes


def test_only_a_later_fix_that_edits_what_the_first_failure_ran_through_is_tried_in_its_place() -> None:
    edits = [Edit("n.py", 1, b"a\nb\nc\nd\ne\n", after) for after in (b"a\nB\nc\nd\ne\n", b"a\nb\nc\nd\nE\n")]
    failed = replace(FIRST, frames=(Frame(SourceLocation("n.py", 1, "f", owned=True)),))
    assert [touches(failed, [edit]) for edit in edits] == [True, False]
    assert not touches(FIRST, edits)


def lines(before: str, after: str, title: str = "Move `a` to `device`", parts: tuple[Patch, ...] = ()) -> Patch:
    edit = Edit("n.py", 1, before.encode(), after.encode())
    return replace(patch(SOURCE), title=title, edits=(edit,), parts=parts)


def after_each(patches: list[Patch]) -> list[str]:
    failed = replace(FIRST, frames=(Frame(SourceLocation("n.py", 5, "f", owned=True)),))
    return [each.edits[0].after.decode() for each in patches_with_less(patches, failed)]


def test_two_later_fixes_together_may_make_the_first_needless() -> None:
    """Neither of them does alone: `u` and `v` follow `mu` and `nu`, which are created elsewhere later."""
    chain = ["mu\nb\nc\nnu\nu v\n", "mu\nb\nc\nnu\nU V\n", "MU\nb\nc\nnu\nU V\n", "MU\nb\nc\nNU\nU V\n"]
    patches = [lines(*pair) for pair in pairwise(chain)]
    assert after_each(patches) == ["mu\nb\nc\nNU\nu v\n", "MU\nb\nc\nNU\nu v\n"]
    others = [replace(each, edits=(replace(each.edits[0], path="other.py"),)) for each in patches[1:]]
    assert after_each([patches[0], *others]) == []


def test_a_fix_or_a_part_of_it_is_left_out_and_the_others_start_where_the_one_before_ends() -> None:
    """The table was moved where `t` met it; a later fix moves each table in the function that reads them."""
    start, moved, both = "gather\nb\ntable\nd\nt\n", "gather\nb\ntable\nd\nT\n", "gather\nb\nTABLE\nd\nT\n"
    one, other = lines(start, moved), lines(moved, both)
    joined = with_companion(one, other)
    assert joined.parts == (one, other)
    later = lines(both, "GATHER\nb\nTABLE\nd\nT\n")
    found = [[_texts(each) for each in sequence] for sequence in sequences_with_less([joined, later])]
    first, second = "gather\nb\nTABLE\nd\nt\n", "GATHER\nb\nTABLE\nd\nt\n"
    assert found == [
        [(start, first), (first, second)],
        [(start, moved), (moved, "GATHER\nb\ntable\nd\nT\n")],
    ]
    plain = [lines(start, moved), lines(moved, both)]
    assert [[_texts(each) for each in sequence] for sequence in sequences_with_less(plain)] == [[(start, first)]]
    assert [*sequences_with_less([lines(start, moved), lines(moved, moved.replace("T", "t2"))])] == []


def _texts(patch: Patch) -> tuple[str, str]:
    return patch.edits[0].before.decode(), patch.edits[0].after.decode()
