"""The checks of a case: each way in which a rule can be wrong is told, by running real programs on simulated GPUs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rule_packs import AFTER, BEFORE, FAILURE, ON_PURPOSE, RULE, block, left_alone, page, repaired, write_rule

from devfix.errors import UserError
from devfix.registry.loading import rule_at
from devfix.rule_testing.checking.page_check import Judgement, judge
from devfix.rule_testing.checking.runner import Bench, check_torch
from devfix.rule_testing.checking.writing import format_judgement as written_judgement


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench(Path(sys.executable)) as made:
        yield made


def judged(bench: Bench, folder: Path, text: str, rule: str = RULE) -> Judgement:
    return next(judge([rule_at(write_rule(folder, rule=rule, text=text))], bench))


def problems(bench: Bench, folder: Path, text: str, rule: str = RULE) -> list[tuple[str, str]]:
    found = judged(bench, folder, text, rule)
    every = [*found.problems, *(problem for result in found.results for problem in result.problems)]
    return [(problem.what, problem.shown) for problem in every]


@pytest.mark.slow
def test_a_right_page_has_no_problem(bench: Bench, tmp_path: Path) -> None:
    found = judged(bench, tmp_path, page())
    assert found.passed, problems(bench, tmp_path, page())
    assert [result.case.name for result in found.results] == ["left behind", "on purpose"]


@pytest.mark.slow
def test_another_failure_than_the_page_tells(bench: Bench, tmp_path: Path) -> None:
    wrong = repaired(failure="device-mismatch at main.py:7\nRuntimeError: …")
    ((what, shown),) = problems(bench, tmp_path, page(wrong, left_alone()))
    assert what == "the failure is not the one on the page"
    assert "device-mismatch at main.py:6" in shown


@pytest.mark.slow
def test_a_program_that_does_not_fail_on_a_device(bench: Bench, tmp_path: Path) -> None:
    clean, broken = repaired(before=AFTER), repaired(before="raise KeyError('ids')\n")
    ((what, shown),) = problems(bench, tmp_path, page(clean, left_alone()))
    assert (what, shown) == ("does not fail on a device", "clean in the world cuda x1")
    ((what, shown),) = problems(bench, tmp_path, page(broken, left_alone()))
    assert what == "does not fail on a device"
    assert "KeyError: 'ids'" in shown


@pytest.mark.slow
def test_a_first_change_that_is_not_after_shows_the_difference(bench: Bench, tmp_path: Path) -> None:
    other = repaired(after=BEFORE.replace("bias = torch.zeros(3)", "bias = torch.zeros(3, device=device)"))
    ((what, shown),) = problems(bench, tmp_path, page(other, left_alone()))
    assert what == "the first change is not `after`"
    assert "-bias = torch.zeros(3, device=device)" in shown
    assert "+print((weight + bias.to(device)).tolist())" in shown


@pytest.mark.slow
def test_a_change_that_is_not_python_is_one_line(bench: Bench, tmp_path: Path) -> None:
    rule = RULE.replace("yield from site.move_argument()", "yield from _wrong(site.file.data)")
    rule = rule.replace("import Change,", "import Change, Edit, Safety,")
    rule += """

def _wrong(before):
    for number in range(3):
        yield Change(f"Try {number}", Safety.SAFE, (Edit("main.py", 6, before, before + b"print(" * (number + 1)),))
"""
    ((what, shown), *rest) = problems(bench, tmp_path, page(), rule)
    assert "an edit of 'main.py' that is not valid Python: '(' was never closed, in line 7: print(" in what
    assert "\n" not in what and shown == ""
    assert [words for words, _ in rest] == ["is not repaired: `propose` yields no change"]


@pytest.mark.slow
def test_what_a_rule_prints_and_raises_is_shown_with_its_case(bench: Bench, tmp_path: Path) -> None:
    rule = RULE.replace(
        "        for each in ctx", "        print(len(ctx.failure.operands), 'operands')\n        for each in ctx"
    )
    rule = rule.replace(
        "            if site.kind", "            print(site.kind)\n            {}[site.kind]\n            if site.kind"
    )
    first, second = judged(bench, tmp_path, page(), rule).results
    assert second.output == "2 operands\n"
    said = first.output.splitlines()
    assert said[:2] == ["2 operands", "creation"] and said[-1] == "KeyError: 'creation'"
    assert sum("line " in line for line in said) == 1, "a frame that is not the rule's"
    (problem, *_) = first.problems
    assert "raised KeyError: 'creation' at " in problem.what


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("return each.report", "return each.report", "`diagnose` blames nothing"),
        ("return None", "decline('on purpose')", "`diagnose` declines: on purpose"),
        (' and not each.moved_to("cpu"):', " and (each.moved_to('cpu') or True):", "`propose` yields no change"),
    ],
)
def test_why_a_program_was_left_alone_is_told(bench: Bench, tmp_path: Path, old: str, new: str, why: str) -> None:
    assert old in RULE
    rule = (
        RULE.replace("import Change,", "import Change, decline,")
        .replace(old, new)
        .replace("ctx.sites():", "ctx.sites() if not ctx.moved_to('cpu') else ():")
    )
    found = judged(bench, tmp_path, page(), rule)
    assert found.passed
    assert f"  ok    on purpose  (left alone: {why})" in written_judgement(found).splitlines()


@pytest.mark.slow
def test_a_case_that_prints_other_numbers_each_time_is_noted(bench: Bench, tmp_path: Path) -> None:
    drawn = {name: text.replace("torch.ones(3)", "torch.rand(3)") for name, text in (("b", BEFORE), ("a", AFTER))}
    found = judged(bench, tmp_path, page(repaired(drawn["b"], after=drawn["a"]), left_alone()))
    assert found.passed
    (remark,) = found.results[0].remarks
    assert remark.endswith("since it is not seeded: add torch.manual_seed(0)")
    assert f"        note: {remark}" in written_judgement(found).splitlines()
    seeded = {name: text.replace("\n\n", "\n\ntorch.manual_seed(0)\n", 1) for name, text in drawn.items()}
    case = repaired(seeded["b"], failure="device-mismatch at main.py:7", after=seeded["a"])
    assert judged(bench, tmp_path / "seeded", page(case, left_alone())).results[0].remarks == ()


@pytest.mark.slow
def test_a_rule_that_yields_more_changes_than_are_taken_is_noted(bench: Bench, tmp_path: Path) -> None:
    rule = RULE.replace("yield from site.move_argument()", "yield from list(site.move_argument()) * 17")
    (remark,) = judged(bench, tmp_path, page(), rule).results[0].remarks
    assert remark == "a repair takes the first 16 changes of a rule: this one yields more"


def test_a_change_that_does_not_hold(bench: Bench, tmp_path: Path) -> None:
    rule = RULE.replace("yield from site.move_argument()", "yield from _wrong(site)")
    rule += """

def _wrong(site):
    node = site.file.find(site.file.module, "torch.zeros(3)")[0]
    return site.replace({node: expression("torch.zeros(3, device=device) + 1")}, "Move it")
"""
    rule = rule.replace("import Change,", "import Change, expression,")
    found = problems(bench, tmp_path, page(repaired(after=AFTER), left_alone()), rule)
    assert [what for what, _ in found] == [
        "the first change is not `after`",
        "a change does not hold: Move it: where it failed aten::add is given other values than it was",
    ]


@pytest.mark.slow
def test_a_later_change_that_only_moves_the_crash(bench: Bench, tmp_path: Path) -> None:
    before = BEFORE + "print((weight * bias).tolist())\n"
    after = before.replace("print((weight +", "bias = bias.to(device)\nprint((weight +", 1)
    ((what, shown), *rest) = problems(bench, tmp_path, page(repaired(before, after=after), left_alone()))
    assert what.startswith("a change does not hold: Move `bias` to `device`: it only moves the crash to main.py:7")
    assert "device-mismatch at main.py:7" in shown
    assert rest == []
    unsure = RULE.replace(
        "yield from site.move_argument()", "yield from first_is_safe([each] for each in site.move_argument())"
    ).replace("import Change,", "import Change, first_is_safe,")
    assert problems(bench, tmp_path / "guesses", page(repaired(before, after=after), left_alone()), unsure) == []


@pytest.mark.slow
def test_what_must_be_left_alone_and_is_not(bench: Bench, tmp_path: Path) -> None:
    rule = RULE.replace(' and not each.moved_to("cpu"):', ":")
    ((what, shown),) = problems(bench, tmp_path, page(), rule)
    assert what == "must be left alone, but the rule would: Move `bias` to `device`"
    assert "+print((weight + bias.to(device)).tolist())" in shown


@pytest.mark.slow
def test_a_case_without_failure_must_run_clean(bench: Bench, tmp_path: Path) -> None:
    legal = "### legal\n\n" + block("python before", AFTER)
    assert problems(bench, tmp_path, page(repaired(), left_alone(), legal)) == []
    wrong = "### legal\n\n" + block("python before", BEFORE)
    ((what, _),) = problems(bench, tmp_path, page(repaired(), left_alone(), wrong))
    assert what == "has no `failure`, but does not run clean"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "        for each in ctx",
            "        raise ValueError('oops')\n        for each in ctx",
            "diagnose raised ValueError: oops",
        ),
        ("return each.report(", "return (", "expected a Finding of this failure"),
        ("return each.report(", "return Finding(7, ", "expected a Finding of this failure"),
        ("yield from site.move_argument()", "yield 'a.to(b)'", "yielded str, expected a Change"),
        ("yield from site.move_argument()", "yield 1 / 0", "raised ZeroDivisionError"),
        ("            if site.kind", "            return 5\n            if site.kind", "`propose` yields no change"),
        (
            "        for site in ctx.sites():",
            "        exit(3)\n        for site in []:",
            "propose raised SystemExit: 3",
        ),
    ],
)
def test_a_rule_that_raises_or_speaks_nonsense_is_named(
    bench: Bench, tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert old in RULE
    found = problems(bench, tmp_path, page(), RULE.replace(old, new))
    assert any(words in what for what, _ in found), found


@pytest.mark.slow
def test_what_a_page_lacks(bench: Bench, tmp_path: Path) -> None:
    whats = [what for what, _ in problems(bench, tmp_path, page(repaired(), title="Another."))]
    assert [what.split(":")[0] for what in whats] == [
        "the title is not the rule's, which is the first line of its docstring",
        "no failing case is left alone",
    ]
    (what,) = [what for what, _ in problems(bench, tmp_path, page(left_alone()))]
    assert what == "no case has an `after` block: at least one program must be repaired"


@pytest.mark.slow
def test_a_page_that_promises_more_than_the_rule(bench: Bench, tmp_path: Path) -> None:
    assert problems(bench, tmp_path, page(safety="Likely. It copies.")) == [
        ("the page says `Likely.`, while the least safe first change is 'safe'", "")
    ]


@pytest.mark.slow
def test_options_of_a_case_reach_the_rule(bench: Bench, tmp_path: Path) -> None:
    rule = RULE.replace(
        "\n\nclass BiasLeft",
        "\nfrom dataclasses import dataclass\n\n\n@dataclass(frozen=True)\nclass Options:\n"
        "    kinds: tuple[str, ...] = ()\n\n\nclass BiasLeft",
        1,
    ).replace('if site.kind == "use"', "if site.kind in self.options.kinds")
    assert [what for what, _ in problems(bench, tmp_path, page(), rule)] == [
        "is not repaired: `propose` yields no change"
    ]
    with_options = repaired() + "\n" + block("toml options", 'kinds = ["use"]')
    assert problems(bench, tmp_path / "with", page(with_options, left_alone()), rule) == []


@pytest.mark.slow
def test_a_foreign_file_is_not_edited(bench: Bench, tmp_path: Path) -> None:
    main = "import torch\nimport adding\n\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
    main += "bias = torch.zeros(3)\nprint(adding.add(torch.ones(3).to(device), bias).tolist())\n"
    library = "def add(weight, bias):\n    return weight + bias\n"
    case = repaired(main, "device-mismatch at main.py:6", main.replace(", bias)", ", bias.to(device))"))
    case += "\n" + block("python foreign adding.py", library)
    assert problems(bench, tmp_path, page(case, left_alone())) == []


def test_an_interpreter_without_torch_is_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot start"):
        check_torch(tmp_path / "python")
    (tmp_path / "python").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "python").chmod(0o755)
    with pytest.raises(UserError, match="it has no torch"):
        check_torch(tmp_path / "python")


@pytest.mark.slow
def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    rule = rule_at(write_rule(tmp_path / "rules", text=page(left_alone(ON_PURPOSE, FAILURE))))
    with Bench(Path(sys.executable)) as bench:
        list(judge([rule], bench))
    assert [path.name for path in tmp_path.iterdir()] == ["rules"]
