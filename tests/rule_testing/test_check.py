"""The checks of a case: each way in which a rule can be wrong is told, by running real programs on simulated GPUs."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rule_packs import AFTER, BEFORE, FAILURE, ON_PURPOSE, RULE, block, left_alone, page, repaired, write_rule

from devfix.errors import UserError
from devfix.registry.loading import rule_at
from devfix.rule_testing.page_check import Judgement, judge, update_page
from devfix.rule_testing.runner import Bench, check_torch


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    with Bench(Path(sys.executable)) as made:
        yield made


def judged(bench: Bench, folder: Path, text: str, rule: str = RULE) -> Judgement:
    return next(judge([rule_at(write_rule(folder, rule=rule, text=text))], bench))


def troubles(bench: Bench, folder: Path, text: str, rule: str = RULE) -> list[tuple[str, str]]:
    found = judged(bench, folder, text, rule)
    every = [*found.troubles, *(trouble for result in found.results for trouble in result.troubles)]
    return [(trouble.what, trouble.shown) for trouble in every]


@pytest.mark.slow
def test_a_right_page_has_no_trouble(bench: Bench, tmp_path: Path) -> None:
    found = judged(bench, tmp_path, page())
    assert found.passed, troubles(bench, tmp_path, page())
    assert [result.case.name for result in found.results] == ["left behind", "on purpose"]


def test_another_failure_than_the_page_tells(bench: Bench, tmp_path: Path) -> None:
    wrong = repaired(failure="device-mismatch at main.py:7\nRuntimeError: …")
    ((what, shown),) = troubles(bench, tmp_path, page(wrong, left_alone()))
    assert what == "the failure is not the one on the page"
    assert "device-mismatch at main.py:6" in shown


def test_a_program_that_does_not_fail_on_a_device(bench: Bench, tmp_path: Path) -> None:
    clean, broken = repaired(before=AFTER), repaired(before="raise KeyError('ids')\n")
    ((what, shown),) = troubles(bench, tmp_path, page(clean, left_alone()))
    assert (what, shown) == ("does not fail on a device", "clean in the world cuda x1")
    ((what, shown),) = troubles(bench, tmp_path, page(broken, left_alone()))
    assert what == "does not fail on a device"
    assert "KeyError: 'ids'" in shown


def test_a_first_change_that_is_not_after_shows_the_difference(bench: Bench, tmp_path: Path) -> None:
    other = repaired(after=BEFORE.replace("bias = torch.zeros(3)", "bias = torch.zeros(3, device=device)"))
    ((what, shown),) = troubles(bench, tmp_path, page(other, left_alone()))
    assert what == "the first change is not `after`"
    assert "-bias = torch.zeros(3, device=device)" in shown
    assert "+print((weight + bias.to(device)).tolist())" in shown


def test_a_change_that_does_not_hold(bench: Bench, tmp_path: Path) -> None:
    rule = RULE.replace("yield from site.move_argument()", "yield from _wrong(site)")
    rule += """

def _wrong(site):
    node = site.file.find(site.file.module, "torch.zeros(3)")[0]
    return site.replace({node: expression("torch.zeros(3, device=device) + 1")}, "Move it")
"""
    rule = rule.replace("import Change,", "import Change, expression,")
    found = troubles(bench, tmp_path, page(repaired(after=AFTER), left_alone()), rule)
    assert [what for what, _ in found] == [
        "the first change is not `after`",
        "a change does not hold: Move it: where it failed aten::add is given other values than it was",
    ]


def test_a_later_change_that_only_moves_the_crash(bench: Bench, tmp_path: Path) -> None:
    before = BEFORE + "print((weight * bias).tolist())\n"
    after = before.replace("print((weight +", "bias = bias.to(device)\nprint((weight +", 1)
    ((what, shown), *rest) = troubles(bench, tmp_path, page(repaired(before, after=after), left_alone()))
    assert what.startswith("a change does not hold: Move `bias` to `device`: it only moves the crash to main.py:7")
    assert "device-mismatch at main.py:7" in shown
    assert rest == []
    unsure = RULE.replace(
        "yield from site.move_argument()", "yield from first_is_safe([each] for each in site.move_argument())"
    ).replace("import Change,", "import Change, first_is_safe,")
    assert troubles(bench, tmp_path / "guesses", page(repaired(before, after=after), left_alone()), unsure) == []


def test_what_must_be_left_alone_and_is_not(bench: Bench, tmp_path: Path) -> None:
    rule = RULE.replace(' and not each.moved_to("cpu"):', ":")
    ((what, shown),) = troubles(bench, tmp_path, page(), rule)
    assert what == "must be left alone, but the rule would: Move `bias` to `device`"
    assert "+print((weight + bias.to(device)).tolist())" in shown


@pytest.mark.slow
def test_a_case_without_failure_must_run_clean(bench: Bench, tmp_path: Path) -> None:
    legal = "### legal\n\n" + block("python before", AFTER)
    assert troubles(bench, tmp_path, page(repaired(), left_alone(), legal)) == []
    wrong = "### legal\n\n" + block("python before", BEFORE)
    ((what, _),) = troubles(bench, tmp_path, page(repaired(), left_alone(), wrong))
    assert what == "has no `failure`, but does not run clean"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "        for each in ctx",
            "        raise ValueError('oops')\n        for each in ctx",
            "diagnose raised ValueError: oops",
        ),
        ("return each.blame(", "return (", "expected a Finding of this failure"),
        ("return each.blame(", "return Finding(7, ", "expected a Finding of this failure"),
        ("yield from site.move_argument()", "yield 'a.to(b)'", "yielded str, which is no Change"),
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
    found = troubles(bench, tmp_path, page(), RULE.replace(old, new))
    assert any(words in what for what, _ in found), found


@pytest.mark.slow
def test_what_a_page_lacks(bench: Bench, tmp_path: Path) -> None:
    whats = [what for what, _ in troubles(bench, tmp_path, page(repaired(), title="Another."))]
    assert [what.split(":")[0] for what in whats] == [
        "the title is not the rule's, which is the first line of its docstring",
        "no failing case is left alone",
    ]
    (what,) = [what for what, _ in troubles(bench, tmp_path, page(left_alone()))]
    assert what.startswith("no case is repaired")


@pytest.mark.slow
def test_a_page_that_promises_more_than_the_rule(bench: Bench, tmp_path: Path) -> None:
    assert troubles(bench, tmp_path, page(safety="Likely. It copies.")) == [
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
    assert [what for what, _ in troubles(bench, tmp_path, page(), rule)] == [
        "is not repaired: `propose` yields no change"
    ]
    with_options = repaired() + "\n" + block("toml options", 'kinds = ["use"]')
    assert troubles(bench, tmp_path / "with", page(with_options, left_alone()), rule) == []


@pytest.mark.slow
def test_update_writes_what_the_rule_did(bench: Bench, tmp_path: Path) -> None:
    empty = page(repaired(after="", failure=""), left_alone(failure=""))
    module = write_rule(tmp_path, text=empty)
    assert update_page(rule_at(module), bench)
    written = module.with_suffix(".md").read_text("utf-8")
    assert block("python after", AFTER) in written
    assert "device-mismatch at main.py:6" in written
    assert next(judge([rule_at(module)], bench)).passed
    assert not update_page(rule_at(module), bench)


@pytest.mark.slow
def test_update_keeps_a_failure_that_is_told_in_part(bench: Bench, tmp_path: Path) -> None:
    module = write_rule(tmp_path, text=page(repaired(after="x = 1"), left_alone()))
    assert update_page(rule_at(module), bench)
    assert module.with_suffix(".md").read_text("utf-8") == page()


def test_update_leaves_out_the_words_in_which_builds_of_torch_differ(bench: Bench, tmp_path: Path) -> None:
    empty = repaired("import torch\n\nprint(torch.ones(2, device='cuda'))\n", failure="")
    module = write_rule(tmp_path, text=page(empty.replace("\n\n", "\n\nWorld: cpu\n\n", 1), left_alone()))
    assert update_page(rule_at(module), bench)
    assert block("text failure", "no-device at main.py:3") in module.with_suffix(".md").read_text("utf-8")


@pytest.mark.slow
def test_a_file_that_the_page_does_not_show_after_is_added(bench: Bench, tmp_path: Path) -> None:
    main = "import torch\nimport adding\n\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
    main += "print(adding.add(torch.ones(3).to(device), torch.zeros(3)).tolist())\n"
    library = "def add(weight, bias):\n    return weight + bias\n"
    case = repaired(main, "device-mismatch at adding.py:2", "") + "\n" + block("python before adding.py", library)
    module = write_rule(tmp_path, text=page(case, left_alone()))
    assert update_page(rule_at(module), bench)
    assert block("python after adding.py", library.replace("+ bias", "+ bias.to(weight.device)")) in (
        module.with_suffix(".md").read_text("utf-8")
    )
    assert next(judge([rule_at(module)], bench)).passed


@pytest.mark.slow
def test_a_foreign_file_is_not_edited(bench: Bench, tmp_path: Path) -> None:
    main = "import torch\nimport adding\n\ndevice = 'cuda' if torch.cuda.is_available() else 'cpu'\n"
    main += "bias = torch.zeros(3)\nprint(adding.add(torch.ones(3).to(device), bias).tolist())\n"
    library = "def add(weight, bias):\n    return weight + bias\n"
    case = repaired(main, "device-mismatch at main.py:6", main.replace(", bias)", ", bias.to(device))"))
    case += "\n" + block("python foreign adding.py", library)
    assert troubles(bench, tmp_path, page(case, left_alone())) == []


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
