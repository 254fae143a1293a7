"""`devfix lint-rules` reports what a rule must not do, and files that are not where rules are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from rule_packs import RULE, page, write_rule

from devfix.cli import status
from devfix.errors import UserError
from devfix.rule_testing.authoring.lint import lint

ROOT = Path(__file__).resolve().parents[2]


def test_the_rules_of_devfix_have_no_findings() -> None:
    assert [str(each) for each in lint([ROOT / "rules"])] == []


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("import torch.nn", "imports torch, which devfix may not have and which slows every command (torch.nn)"),
        ("from urllib import request", "uses the network (urllib)"),
        ("import subprocess", "starts processes (subprocess)"),
        ("Path('x').write_text('')", "uses files (`Path('x').write_text`)"),
        ("open('x')", "opens a file (`open`)"),
    ],
)
def test_an_access_is_named_with_its_line(tmp_path: Path, line: str, what: str) -> None:
    module = write_rule(tmp_path, rule=RULE + f"\n\ndef _more():\n    {line}\n")
    number = module.read_text().splitlines().index(f"    {line}") + 1
    (found,) = lint([tmp_path])
    assert str(found) == f"{module}:{number}: {what}: a rule only looks at failures and sources"


def test_files_that_are_not_in_order_are_named(tmp_path: Path) -> None:
    write_rule(tmp_path / "a")
    twin = write_rule(tmp_path / "b")
    deep = write_rule(tmp_path / "a" / "deep" / "deeper")
    orphan = tmp_path / "a" / "acme" / "gone.md"
    orphan.write_text(page())
    no_page = write_rule(tmp_path / "b", "no_page")
    no_page.with_suffix(".md").unlink()
    no_rule = write_rule(tmp_path / "b", "no_rule", rule='"""Nothing."""\n')
    wrong = write_rule(tmp_path / "b", "wrong", rule="def (\n")
    found = [str(each) for each in lint([tmp_path / "a", tmp_path / "b"])]
    assert found == [
        f"{orphan}: is the page of no rule: gone.py is missing",
        f"{deep}: too deep a folder: rules are read in a folder and one below it",
        f"{twin}: is a second rule acme/bias-left, beside {tmp_path / 'a' / 'acme' / 'bias_left.py'}",
        f"{no_page}: {no_page.with_suffix('.md').resolve()}: the rule has no page; `devfix new-rule` writes one to"
        " start from",
        f"{no_rule}: is not a rule, it needs one class derived from devfix.sdk.Rule, and has none",
        f"{wrong}:1: does not parse: invalid syntax",
    ]


def test_the_command_prints_what_it_finds(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    module = write_rule(tmp_path / "rules", rule=RULE + "import torch\n")
    assert status(["lint-rules", str(tmp_path / "rules")]) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith(f"{module}:") and "imports torch" in out[0] and out[-1] == "1 found"
    module.write_text(RULE)
    assert status(["lint-rules", str(module)]) == 0
    assert capsys.readouterr().out == "nothing found\n"
    with pytest.raises(UserError, match="no such folder"):
        lint([tmp_path / "nowhere"])
