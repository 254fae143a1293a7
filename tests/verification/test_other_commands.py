"""The repository's other commands: which reach a patch, and what their runs before and after it say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sample_report import report as sample_report
from verdict_programs import PROGRAM, rejected, rules_that
from verifier_cases import CPU, FIRST, SOURCE, failure, make_run

import devfix
from devfix.discovery import reaching
from devfix.model import Edit, OtherRun, Others, Outcome, Run
from devfix.report.render.machine_readable.json import read, write
from devfix.report.render.pull_request.summary import summary
from devfix.report.render.terminal.text import text
from devfix.verification.other_commands.compare import compare_runs

from git_repositories import make_repository  # isort: skip

PYTHON = Path("/python")
OTHER = replace(make_run(CPU), outcome=Outcome.OTHER, exit_code=1, stderr="ValueError: no")
EDITS = (Edit("m.py", 3, SOURCE, SOURCE.replace(b"\n", b"\n", 1)),)


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        (make_run(CPU), make_run(CPU), "as before"),
        (make_run(CPU, stdout="on cpu\n"), make_run(CPU, stdout="on cuda:0\n"), "as before"),
        (make_run(CPU, FIRST), make_run(CPU), "better"),
        (make_run(CPU), OTHER, "worse"),
        (make_run(CPU), make_run(CPU, FIRST), "worse"),
        (make_run(CPU, stdout="1\n"), make_run(CPU, stdout="2\n"), "worse"),
        (OTHER, OTHER, "as before"),
        (OTHER, replace(OTHER, stderr="TypeError: other"), "worse"),
        (make_run(CPU, FIRST), make_run(CPU, FIRST), "not fixed"),
        (make_run(CPU, failure(9, 1, 1)), make_run(CPU, failure(9, 1, 1)), "as before"),
    ],
)
def test_what_two_runs_say(before: Run, after: Run, word: str) -> None:
    assert compare_runs(before, after, FIRST, EDITS, lambda: (before, after))[0] == word


def test_output_that_does_not_repeat_says_nothing() -> None:
    runs = [make_run(CPU, stdout=f"{number}\n") for number in range(4)]
    assert compare_runs(runs[0], runs[1], FIRST, EDITS, lambda: (runs[2], runs[3]))[0] == "as before"


DRAWS = replace(OTHER, stderr="AssertionError: 0.5 == 0.6")


@pytest.mark.parametrize(
    ("first", "seeded", "word"),
    [
        ((make_run(CPU), DRAWS), (make_run(CPU), make_run(CPU)), "as before"),
        ((make_run(CPU), DRAWS), (DRAWS, DRAWS), "as before"),
        ((OTHER, DRAWS), (OTHER, OTHER), "as before"),
        ((OTHER, DRAWS), (DRAWS, DRAWS), "as before"),
        ((make_run(CPU), DRAWS), (make_run(CPU), DRAWS), "worse"),
        ((OTHER, DRAWS), (OTHER, DRAWS), "worse"),
        ((OTHER, make_run(CPU, FIRST)), (OTHER, OTHER), "worse"),
    ],
)
def test_what_ends_otherwise_by_chance_is_not_worse(first: tuple[Run, Run], seeded: tuple[Run, Run], word: str) -> None:
    assert compare_runs(*first, FIRST, EDITS, lambda: seeded)[0] == word


def test_commands_that_reach_a_file(tmp_path: Path) -> None:
    files = {
        "net.py": "import torch\nclass Net: pass\n",
        "main.py": "import net\nif __name__ == '__main__':\n    net.Net()\n",
        "plain.py": "from net import Net\nprint(Net())\n",
        "deep.py": "import plain\nfor x in range(3):\n    pass\n",
        "other.py": "import torch\nprint(1)\n",
        "names.py": "import net\nVALUE = 3\n",
        "setup.py": "import net\nprint(1)\n",
        "tests/test_net.py": "import net\n\n\ndef test_net():\n    net.Net()\n",
        "tests/test_other.py": "import other\n",
        "tests/test_deep.py": "import plain\n",
        "README.md": "    python main.py --fast\n    python other.py\n",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    found = reaching(tmp_path, frozenset(files), PYTHON, frozenset({"net.py"}))
    assert [each.shown for each in found] == [
        "python -m pytest tests/test_net.py",  # which names what is defined there
        "python main.py",
        "python main.py --fast",
        "python deep.py",
        "python -m pytest tests/test_deep.py",
    ]


LIB = "def total(weight, bias):\n    return (weight * 2 + bias).sum()\n"
MAIN = PROGRAM.replace(
    "def total(weight, bias):\n    first = weight * 2\n    return (first + bias).sum()\n", "from lib import total\n"
)
NUMBER = "import torch\n\nfrom lib import total\n\nprint(total(torch.ones(3), sum([1.0, 2.0])).item())\n"


@pytest.mark.slow
@pytest.mark.parametrize("budget", [600.0, 0.0])
def test_a_fix_that_breaks_another_script_is_dropped(tmp_path: Path, budget: float) -> None:
    root = make_repository(tmp_path / "project", {"main.py": MAIN, "lib.py": LIB, "number.py": NUMBER})
    (root / "devfix.toml").write_text('select = ["acme"]\n')
    rules = rules_that(tmp_path, [("2 + bias", "2 + bias.to(weight.device)")])
    report = devfix.repair(root, run="python main.py", world="simulated", rules=[rules], others=budget)
    if budget == 0:
        assert report.outcome == "repaired" and report.others is not None
        assert report.others.ran == () and report.others.left_out == (("python number.py", "as asked, none are run"),)
        return
    assert report.outcome == "unrepaired" and not report.branch
    assert "regressed: `python number.py`" in rejected(report)[0] and "AttributeError" in rejected(report)[0]
    data = read(write(report))
    assert {"worse"} == {each.comparison for each in data.others.ran}
    assert "would fix it, but was rejected: `python number.py`" in " ".join(text(data).split()[:40])


def test_what_speaks_against_a_fix_stands_in_the_first_lines() -> None:
    whole = sample_report()
    repair = whole.repairs[0]
    assert repair.fix is not None
    doubtful = replace(repair.fix, verdict=replace(repair.fix.verdict, objections=("`python b.py` fails",)))
    ran = (OtherRun("python b.py", "the script b.py", "cpu", Outcome.CLEAN, Outcome.CLEAN, "as before"),)
    others = Others(120.0, ran, (("python c.py", "the budget of 120 s was spent"),))
    data = read(write(replace(whole, repairs=(replace(repair, fix=doubtful), *whole.repairs[1:]), others=others)))
    shown, page = text(data), summary(data).replace("\\", "")
    assert "Review `Move `x` to the model's device`: `python b.py` fails" in "\n".join(shown.splitlines()[:4])
    assert "python c.py: skipped, the budget of 120 s was spent" in shown
    assert "python b.py` fails" in "\n".join(page.splitlines()[:4])
    assert "python c.py" in page and "the budget of 120 s was spent" in page
