"""The commit message of a fix."""

from __future__ import annotations

from dataclasses import replace

from sample_report import HOSTILE, SIMULATED, failure, patch, report

from devfix.model import Fix, Verdict
from devfix.report.render.pull_request.commit_message import commit_message

FIX = Fix(patch(), Verdict("verified", {"cpu": "clean", "cuda x1": "clean"}, 3, 4), "diff")


def test_the_message_has_rule_reason_command_before_and_after() -> None:
    words = commit_message(failure(), FIX, "python train.py --steps 2", SIMULATED)
    subject, blank, *rest = words.split("\n")
    assert subject == "Move `x` to the model's device"
    assert blank == ""
    body = "\n".join(rest)
    assert "never moved, while the model lies on" in body
    assert "Rule: placement/input-not-moved (safe)" in body
    assert "Command: python train.py --steps 2" in body
    assert "World: cuda x1 (simulated)" in body
    assert "Before, at train.py:4:\n  RuntimeError: Expected all tensors" in body
    assert "  x is on cpu\n    created at train.py:3" in body
    assert "  cpu: clean\n  cuda x1: clean\n  host-device copies: 3 before (up to the failure), 4 after" in body
    assert words.endswith(" after\n")
    assert "\n\n\n" not in words


def test_lines_are_wrapped_and_the_subject_is_short() -> None:
    long = replace(FIX, patch=replace(patch("move " + "the tensor " * 30), reason="so " * 200))
    words = commit_message(failure("m " * 300), long, "python train.py", SIMULATED)
    assert len(words.split("\n")[0]) <= 72
    assert words.startswith("Move the tensor")
    assert max(map(len, words.split("\n"))) <= 72


def test_what_the_program_says_is_data() -> None:
    hostile = replace(FIX, patch=replace(patch("Move " + HOSTILE), reason=HOSTILE))
    words = commit_message(failure(HOSTILE + "\n# gone?\nSigned-off-by: Eve"), hostile, "python " + HOSTILE, SIMULATED)
    assert "\x1b" not in words
    assert "{{ 7 * 7 }}" in words
    assert "\nSigned-off-by" not in words


def test_no_line_begins_as_a_comment_of_git() -> None:
    fix = replace(FIX, patch=replace(patch(), reason="# " + "word #word " * 40))
    assert not [line for line in commit_message(failure(), fix, "x", SIMULATED).split("\n") if line.startswith("#")]


def test_a_failure_without_a_place_or_operands_has_a_message_too() -> None:
    bare = replace(report().repairs[0].failure, frames=(), operands=())
    assert "Before:\n  RuntimeError" in commit_message(bare, FIX, "python train.py", SIMULATED)
