"""Each point of a verdict alone catches a wrong patch: real programs, run in real worktrees and simulated worlds."""

from __future__ import annotations

from pathlib import Path

import pytest
from git_repositories import fingerprint, git, make_repository
from verdict_programs import PROGRAM, RIGHT, judged, project, rejected, rules_that

import devfix

pytestmark = pytest.mark.slow

SUM = "    return (first + bias).sum()"
CAUGHT = """    try:
        return (first + bias).sum()
    except RuntimeError:
        return first.sum()"""
# For each: the wrong change, and what is said of it. On the CPU all of them compute what the program did before.
HIDING = {
    "caught at the place": ((SUM, CAUGHT), "raised as before, and caught"),
    "caught outside": (
        (
            "    answer = total(weight, bias)",
            "    try:\n        answer = total(weight, bias)\n    except RuntimeError:\n        answer = weight.sum()",
        ),
        "raised as before, and caught",
    ),
    "returned before it": (
        (SUM, f"    if weight.is_cuda:\n        return first.sum()\n{SUM}"),
        "does not run any more",
    ),
    "skipped by the caller": (
        ("    answer = total(weight, bias)", "    answer = weight.sum() if weight.is_cuda else total(weight, bias)"),
        "does not run any more",
    ),
    "left out": ((SUM, "    return (first + bias if not first.is_cuda else first).sum()"), "does not run any more"),
}
WRONG = {
    "moves the crash": ((SUM, "    first.sum()\n    return (first * 1 + bias).sum()"), "same-failure"),
    "breaks the world without a GPU": (
        ("bias = torch.ones(3)", 'bias = torch.ones(3, device="cuda")'),
        "regressed: cpu",
    ),
    "computes something else": (("bias = torch.ones(3)", "bias = torch.ones(3).to(device) * 3"), "behaviour-changed"),
    "fails earlier": (
        ("weight = torch.ones(3).to(device)", "weight = torch.ones(3).to(device) + torch.ones(3)"),
        "broken: it fails earlier",
    ),
    "fails otherwise": (("bias = torch.ones(3)", "bias = torch.oens(3)"), "broken"),
}


ONCE = """bias = torch.ones(3)
import os
if device.type == "cuda" and not os.path.exists("{once}"):
    open("{once}", "w").close()
    bias = bias.to(device)"""


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is said of each wrong candidate, all of them tried in one repair, the right one last."""
    folder = tmp_path_factory.mktemp("verdicts")
    once = ("bias = torch.ones(3)", ONCE.format(once=folder / "once"))
    wrong = {**{name: change for name, (change, _) in {**HIDING, **WRONG}.items()}, "passes only once": once}
    report = judged(folder, *wrong.values(), RIGHT)
    assert report.outcome == "repaired", report.notes
    assert report.diff.count("\n+") == 2 and "+bias = torch.ones(3).to(device)\n" in report.diff
    assert git(folder / "project", "show", "--format=", report.branch).startswith("diff --git a/main.py b/main.py")
    said = rejected(report)
    assert len(said) == len(wrong)
    return dict(zip(wrong, said, strict=True))


@pytest.mark.parametrize("name", HIDING)
def test_what_hides_the_failure_is_dropped(name: str, verdicts: dict[str, str]) -> None:
    assert verdicts[name].startswith("broken: it hides the failure") and HIDING[name][1] in verdicts[name]


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_patch_is_dropped(name: str, verdicts: dict[str, str]) -> None:
    assert verdicts[name].startswith(WRONG[name][1])


def test_one_that_passes_only_once_is_dropped(verdicts: dict[str, str]) -> None:
    assert "does not repeat" in verdicts["passes only once"]


def test_alone_a_wrong_patch_leaves_the_program_unrepaired(tmp_path: Path) -> None:
    report = judged(tmp_path, HIDING["caught at the place"][0], WRONG["computes something else"][0])
    assert report.outcome == "unrepaired" and not report.branch
    assert git(tmp_path / "project", "branch", "--list", "devfix/*") == ""


GATED = """import torch

gpus = torch.cuda.device_count()
home = torch.device("cuda:0" if gpus else "cpu")
weight = torch.ones(3, device=home)
other = torch.ones(3, device="cuda:1") if gpus > 1 else torch.ones(3, device=home)
bias = torch.ones(3)
if gpus == {fails}:
    weight = weight + bias
print(weight.sum().item(), (weight + other.to(home)).sum().item())
"""


@pytest.mark.parametrize(("fails", "breaks"), [(1, "cuda x2"), (2, "cuda x1")])
def test_one_that_breaks_a_world_which_ran_is_dropped(fails: int, breaks: str, tmp_path: Path) -> None:
    wrong = (
        "bias = torch.ones(3)",
        f"bias = torch.ones(3).to(home)\nif gpus == {3 - fails}:\n    weight + other.cpu()",
    )
    right = ("bias = torch.ones(3)", "bias = torch.ones(3).to(home)")
    report = judged(tmp_path, wrong, right, program=GATED.format(fails=fails), gpus=fails)
    assert report.outcome == "repaired"
    assert rejected(report)[0].startswith(f"regressed: {breaks} ran before")


FLAKY = """import os, torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
weight = torch.ones(3).to(device)
bias = torch.ones(3)
variant = "program"
patterns = {patterns}
with open(os.path.join({folder!r}, variant), "a+") as runs:
    if device.type == "cuda":
        runs.write("x")
    count = runs.tell()
if patterns[variant][min(count, len(patterns[variant])) - 1] == "C":
    bias = bias.to(device)
print((weight + bias).sum().item())
"""


@pytest.mark.parametrize(
    ("program", "patch", "said"),
    [
        ("FC", "CC", "flaky failure, skipped: a second run of the same program clean"),
        ("FFC", "CC", "the failure is flaky: a later run of the same program was clean; it is skipped"),
        ("FFF", "CF", "it does not repeat"),
    ],
)
def test_a_flaky_program_is_left_alone(program: str, patch: str, said: str, tmp_path: Path) -> None:
    """The patterns say what each run on a GPU does: it fails, or is clean.

    The patch changes nothing but which pattern holds, and the runs of the program and of the patch are counted apart
    because they run side by side: only the checks for flaky programs can refuse it.
    """
    source = FLAKY.format(patterns={"program": program, "patch": patch}, folder=str(tmp_path))
    report = judged(tmp_path, ('variant = "program"', 'variant = "patch"'), program=source)
    assert report.outcome != "repaired" and not report.branch
    assert any(said in text for text in [*report.notes, *rejected(report)])


def test_a_copy_outside_of_the_loop_is_preferred(tmp_path: Path) -> None:
    inside = (SUM, "    return (first + bias.to(first.device)).sum()")
    report = judged(tmp_path, inside, RIGHT)
    assert report.outcome == "repaired" and "+bias = torch.ones(3).to(device)\n" in report.diff
    kept = report.repairs[0].fix
    assert kept is not None and kept.verdict.transfers_after < 5


def test_lines_that_repeat_are_compared_though_others_do_not(tmp_path: Path) -> None:
    program = PROGRAM + "import time\nprint(time.time_ns())\n"
    wrong = ("bias = torch.ones(3)", "bias = torch.ones(3).to(device) * 3")
    report = judged(tmp_path, wrong, RIGHT, program=program)
    assert report.outcome == "repaired" and "* 3" not in report.diff
    assert rejected(report)[0].startswith("behaviour-changed")
    assert any("only the lines that repeat" in note for note in report.notes)


NEEDS_DATA = PROGRAM + 'open("data/log.txt", "a").write("ran\\n")\nprint(open("data/words.txt").read())\n'


def test_ignored_data_is_there_and_stays_as_it_is(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project", {"main.py": NEEDS_DATA, ".gitignore": "data/\ndevfix.toml\n"})
    (root / "data").mkdir()
    (root / "data" / "words.txt").write_text("words")
    (root / "devfix.toml").write_text('select = ["acme"]\n')
    before = fingerprint(root)
    report = devfix.repair(root, run="python main.py", rules=[rules_that(tmp_path, [RIGHT])], dry_run=True)
    assert report.outcome == "repaired", report.last_run
    assert fingerprint(root) == before


def test_a_worktree_that_differs_is_said(tmp_path: Path) -> None:
    root = project(tmp_path)
    (root / "main.py").write_text(PROGRAM.replace("torch.ones(3)\n", "torch.ones(3, device=device)\n"))
    (root / "local.py").write_text("")
    report = devfix.repair(root, run="python main.py", rules=[rules_that(tmp_path, [RIGHT])], dry_run=True)
    assert any("not committed" in note and "main.py" in note and "local.py" in note for note in report.notes)
    assert report.outcome == "repaired", "what is judged is the commit"
