"""The report that a person reads."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from sample_report import HOSTILE, lines, report, run

from devfix.model import Outcome, Report, World
from devfix.report.plain import one_line, plain, short_path, tail
from devfix.report.record import failed_record, record
from devfix.report.render.terminal.text import text
from devfix.report.types import ReportRecord

EMPTY = Report("clean", World("simulated", 1), "python train.py", "/x", "a" * 40)


def shown(sample: Report, width: int = 100, color: bool = False) -> str:
    return text(record(sample, lines), color=color, width=width)


def judged(**verdict: Any) -> ReportRecord:
    """The record of the sample with another verdict of its fix."""
    data = record(report(), lines)
    fix = data.fixes[0]
    return replace(data, fixes=(replace(fix, verdict=replace(fix.verdict, **verdict)),))


def test_a_stranger_finds_everything_to_check() -> None:
    words = shown(report())
    for needed in (
        "Failure 1 of 2 at train.py:4 in main",
        "> model(x)",
        "RuntimeError: Expected all tensors",
        "aten::addmm",
        "x          cpu     float32 [2, 16]",
        "self.bias  cuda:0  float32 [16], parameter of a module",
        "created at train.py:3   x = torch.ones(2, 16)",
        "never moved",
        "moved to cuda:0 at train.py:2",
        "placement/input-not-moved  Move `x` to the model's device (safe)",
        "-model(x)",
        "+model(x.to(device))",
        "cuda x2, current 1",
        "host-device copies  3 before (up to the failure), 4 after",
        "Rejected candidates:",
        "reached a different failure",
        "note: the tree is dirty",
        "git diff HEAD...devfix/x",
        "git merge devfix/x",
    ):
        assert needed in words, needed


def test_a_world_that_failed_before_the_fix_too_is_none_that_it_broke() -> None:
    worlds = {"cuda x1": "clean", "cpu": "failed"}
    assert "failed, as before" in text(judged(outcome="verified", worlds=worlds, before={"cpu": "failed"}))
    broken = text(judged(outcome="verified", worlds=worlds, before={"cpu": "clean"}))
    assert "failed" in broken and "as before" not in broken


@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize("width", [40, 100])
def test_nothing_that_a_program_says_drives_the_terminal(color: bool, width: int) -> None:
    words = shown(report(HOSTILE), width, color)
    left = re.sub(r"\x1b\[[0-9;]*m", "", words)  # colours of our own
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", left)
    assert color == ("\x1b[" in words)
    if width == 100:
        assert "\\x1b[2J" in left
        assert "[bold red]" in left
        assert "{{ 7 * 7 }}" in left


def test_a_program_that_fails_by_itself_is_quoted() -> None:
    words = shown(replace(EMPTY, outcome="unrepaired", last_run=run(outcome=Outcome.OTHER)))
    assert "for a reason unrelated to devices (exit code 1). Its output:" in words
    assert "KeyError: 'ids'" in words


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (Outcome.TIMEOUT, "exceeded the time limit of 2 s (--timeout raises it)"),
        (Outcome.SIGNAL, "killed by SIGSEGV"),
        (Outcome.NOT_STARTED, "did not start"),
        (Outcome.UNOBSERVED, "was not observed. Its use of devices is not known"),
    ],
)
def test_an_ending_without_a_failure_is_told(outcome: Outcome, words: str) -> None:
    last = replace(run(outcome=outcome), signal="SIGSEGV")
    assert words in shown(replace(EMPTY, outcome="unrepaired", last_run=last))


def test_the_first_line_says_what_came_out() -> None:
    assert shown(EMPTY).startswith("Nothing to repair: the program ran without device failures.\npython train.py  on a")
    assert "in an installed dependency" in shown(replace(EMPTY, outcome="dependency-fault"))
    assert "on 2 simulated GPUs, cuda:1 current" in shown(replace(EMPTY, world=World("simulated", 2, 1)))
    assert "on a machine without GPUs" in shown(replace(EMPTY, world=World("cpu")))
    assert text(failed_record("", "no repository")).startswith("Error: no repository")
    assert text(failed_record("", "KeyError", "/tmp/x.log")).startswith("Internal error: KeyError")


def test_a_part_that_was_kept_is_said_first_with_its_branch() -> None:
    whole = report()
    left = replace(whole.repairs[0], fix=None, rejected=())
    words = shown(replace(whole, outcome="partial", repairs=(*whole.repairs, left)))
    assert words.startswith(f"Partly repaired: 1 of {len(whole.repairs) + 1} failures fixed.\n")
    assert "Created branch " in words and "No branch created" not in words


def test_a_dry_run_says_that_there_is_no_branch() -> None:
    words = shown(replace(report(), branch="", commits=()))
    assert "No branch created" in words
    assert "git merge" not in words


def test_no_line_is_wider_than_the_terminal() -> None:
    assert max(map(len, shown(report("word " * 40), 60).splitlines())) <= 60


def test_plain_spells_out_and_keeps() -> None:
    assert plain("a\tb\r\nc\x1b[0m\x85\u2028\udcff") == "a\tb\nc\\x1b[0m\\x85\\u2028\\udcff"
    assert plain("naïve 日本 [x]") == "naïve 日本 [x]"
    assert one_line("a\n  b" + "c" * 500, 20) == "a b" + "c" * 16 + "…"
    assert tail("1\n2\n3\n", 2) == "2\n3"


def test_installed_files_are_named_from_their_package_on() -> None:
    for start in ("/x/.venv/lib/python3.11/site-packages/", "/usr/lib/python3/dist-packages/", "/usr/lib/python3.12/"):
        assert short_path(start + "torch/nn/linear.py") == "torch/nn/linear.py"
    assert short_path("/home/ann/code/linear.py") == "/home/ann/code/linear.py"
    assert short_path("lib/python3.11/linear.py") == "lib/python3.11/linear.py"


def test_a_fix_that_only_comes_further_and_its_equals_are_told_apart() -> None:
    data = judged(outcome="progressed")
    words = text(data)
    assert "fixed; next failure below" in words
    assert "1 equivalent candidate rejected (--verbose lists them)" in words and "Move the model back" not in words
    assert "Move the model back at train.py:4: equivalent to the fix" in text(data, verbose=True)


def test_of_many_candidates_some_are_shown() -> None:
    data = record(report(), lines)
    data = replace(data, rejected=data.rejected[:1] * 20)
    words = text(data)
    assert words.count("Move the model back") == 8
    assert "and 12 more (--verbose lists them)" in words
    assert text(data, verbose=True).count("Move the model back") == 20


def test_a_problem_of_our_own_is_not_kept_quiet() -> None:
    last = replace(run(outcome=Outcome.CLEAN), internal_errors=("the trace is torn\x07",) * 4 + ("b", "c", "d"))
    words = shown(replace(EMPTY, last_run=last))
    assert words.count("the trace is torn\\x07") == 1
    assert words.count("trace incomplete: ") == 3


def test_a_note_on_a_run_is_no_sign_of_an_incomplete_trace() -> None:
    last = replace(run(outcome=Outcome.CLEAN), notes=("it sees 1 of 2 GPUs\x07",) * 2)
    words = shown(replace(EMPTY, last_run=last))
    assert words.count("note: it sees 1 of 2 GPUs\\x07") == 1
    assert "trace incomplete" not in words


def test_where_nothing_was_changed_the_last_words_say_what_can_be_done() -> None:
    assert "run again with --gpus 2" in shown(EMPTY)
    assert "--gpus" not in shown(replace(EMPTY, world=World("cpu")))
    assert "--gpus" not in shown(replace(EMPTY, world=World("simulated", 2)))
    left = replace(EMPTY, outcome="unrepaired", repairs=(replace(report().repairs[0], fix=None),))
    assert "devfix new-rule PACK/NAME" in shown(left)
