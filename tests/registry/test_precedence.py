"""Rules with equally good evidence: which is asked first, and what is told of the candidates that lose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from rule_packs import RULE, write_rule
from sample_report import failure, patch, report

from devfix import sdk
from devfix.diagnosis.diagnose import diagnose
from devfix.diagnosis.propose import propose
from devfix.model import Confidence, Diagnosis, Edit, Finding, Outcome, Patch, Rejected, Run, Safety, Verdict, World
from devfix.pipeline.searching.tried import TriedCandidates
from devfix.registry import Rule, collect
from devfix.registry.precedence import by_precedence, problems_of
from devfix.report.render.machine_readable.json import read, write
from devfix.sdk import Change, Context, Sources
from devfix.verification.candidate import CandidateResult


def rule(
    name: str, *supersedes: str, confidence: Confidence = Confidence.DIRECT, changes: tuple[Change, ...] = ()
) -> Rule:
    class Given(sdk.Rule):
        def diagnose(self, ctx: Context) -> Finding:
            return Finding(0, "", confidence)

        def propose(self, ctx: Context) -> Iterator[Change]:
            return iter(changes)

    Given.supersedes = supersedes
    return Rule(name, "", "", Path(), Given())


@pytest.mark.parametrize(
    ("rules", "order"),
    [
        ([rule("p/b"), rule("p/a")], "ab"),
        ([rule("p/a"), rule("p/b", "p/a")], "ba"),
        ([rule("p/a", "p/c"), rule("p/b", "p/a"), rule("p/c")], "bac"),
        ([rule("p/a"), rule("p/b"), rule("p/c", "p/a")], "bca"),
        ([rule("p/a", "p/none"), rule("p/b", "q/none")], "ab"),
        ([rule("p/c"), rule("p/a", "p/b"), rule("p/b", "p/a")], "cab"),
    ],
)
def test_a_rule_comes_before_those_that_it_supersedes(rules: list[Rule], order: str) -> None:
    assert "".join(each.id[-1] for each in by_precedence(rules)) == order
    assert "".join(each.rule[-1] for each in diagnose(failure(), rules, Sources({}.get))) == order


def test_better_evidence_comes_before_any_precedence() -> None:
    rules = [rule("p/a"), rule("p/b", "p/a", confidence=Confidence.NEARBY)]
    assert [each.rule for each in diagnose(failure(), rules, Sources({}.get))] == ["p/a", "p/b"]


def test_unknown_ids_and_circles_are_told(tmp_path: Path) -> None:
    rules = [rule("p/a", "p/b"), rule("p/b", "p/c"), rule("p/c", "p/a", "p/none")]
    unknown, circle = problems_of(rules)
    assert unknown == "rule p/c supersedes 'p/none', which is not a rule: that is ignored"
    assert circle == "rules supersede each other in a circle: p/a > p/b > p/c > p/a; none counts"
    write_rule(
        tmp_path, "first", RULE.replace("    def diagnose", '    supersedes = ("acme/gone",)\n\n    def diagnose', 1)
    )
    found = collect([tmp_path])
    assert any("'acme/gone', which is not a rule" in problem for problem in found.problems)


def test_shipped_rules_declare_a_precedence_that_holds() -> None:
    rules = collect().rules
    assert not problems_of(rules)
    assert any(each.supersedes for each in rules)


def test_candidates_that_another_rule_makes_too_are_rejected_with_its_name() -> None:
    before = b"a = 1\n"
    change = Change("Do it", Safety.SAFE, (Edit("m.py", 1, before, b"a = 2\n"),))
    rules = {each.id: each for each in (rule("p/a", changes=(change,)), rule("p/b", changes=(change,)))}
    diagnoses = [Diagnosis(name, "", failure(), Finding(0, "")) for name in rules]
    rejected: list[Rejected] = []
    kept = list(propose(diagnoses, rules, Sources({"m.py": before}.get), rejected=rejected))
    assert [each.rule for each in kept] == ["p/a"]
    assert [(each.patch.rule, each.reason) for each in rejected] == [
        ("p/b", "the same change as that of p/a, which comes first")
    ]


def test_a_rules_candidates_beyond_the_limit_are_rejected() -> None:
    edits = [Edit("m.py", 1, b"a = 1\n", b"a = %d\n" % number) for number in range(2, 40)]
    many = rule(
        "p/a", changes=tuple(Change(f"Try {number}", Safety.SAFE, (edit,)) for number, edit in enumerate(edits))
    )
    rejected: list[Rejected] = []
    diagnoses = [Diagnosis("p/a", "", failure(), Finding(0, ""))]
    assert len(list(propose(diagnoses, {"p/a": many}, Sources({"m.py": b"a = 1\n"}.get), rejected=rejected))) == 16
    assert [each.reason for each in rejected] == ["only the first 16 candidates of a rule are taken"]


def test_candidates_that_were_never_run_are_told_with_what_they_lost_to() -> None:
    run = Run(World("simulated", 1), (), Outcome.CLEAN, 0, 0.1)
    held = CandidateResult(replace(patch(), rule="p/a", rank=(1, 0)), {}, run, Verdict("verified"))
    left = [
        replace(patch(), rule=name, rank=rank) for name, rank in (("p/a", (1, 1)), ("p/b", (1, 0)), ("p/c", (2, 0)))
    ]
    assert [each.reason for each in TriedCandidates(held, []).never_run(left)] == [
        "not tried: an earlier candidate of the rule holds",
        "not tried: p/a takes precedence, and its candidate holds",
        "not tried: p/a has stronger evidence, and its candidate holds",
    ]
    (limit,) = TriedCandidates(None, [held] * 24).never_run(left[:1])
    assert limit.reason == "not tried: 24 candidates were tried before it, and no more are"


def test_the_json_lists_every_rejected_candidate_with_its_reason() -> None:
    whole = report()
    lost = Patch("p/z", "Lose", "", Safety.SAFE, (Edit("model.py", 7, b"a\n", b"b\n"),))
    repairs = (replace(whole.repairs[0], untried=(Rejected(lost, "not tried: why"),)), *whole.repairs[1:])
    rejected = read(write(replace(whole, repairs=repairs))).not_kept
    assert [each.tried for each in rejected] == [True, False, True]
    assert asdict(rejected[1]) == {
        "failure": 0, "rule": "p/z", "title": "Lose", "path": "model.py", "line": 7, "tried": False,
        "reason": "not tried: why",
    }  # fmt: skip
    assert all(each.reason and each.title and each.path for each in rejected)
