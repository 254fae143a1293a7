"""`devfix rules`, `explain`, `new-rule` and `test` at the command line."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from rule_packs import left_alone, page, repaired, write_rule

from devfix.cli import status
from devfix.rule_testing.pages.page import read_page


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without rules, and no configuration of the user's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = status(arguments)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_rules_are_listed_with_safety_and_origin(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write_rule(tmp_path / "rules")
    write_rule(tmp_path / "rules", "broken", rule="x = 1\n")
    code, out, err = said(capsys, "rules", "--rules", "rules")
    (line,) = [line for line in out.splitlines() if line.startswith("acme/bias-left")]
    assert code == 0 and "safe" in line and "The bias stays behind." in line
    assert "broken.py: is not a rule, it needs one class derived from devfix.sdk.Rule, and has none" in err
    code, out, _ = said(capsys, "rules", "--rules", "rules", "--format", "json")
    data = json.loads(out)
    (record,) = [rule for rule in data["rules"] if rule["id"] == "acme/bias-left"]
    assert record["pack"] == "acme" and record["origin"] == str(tmp_path / "rules" / "acme")
    assert data["schema"] == "devfix-rules/1" and len(data["problems"]) == 1


def test_a_page_is_explained(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write_rule(tmp_path / "rules")
    code, out, _ = said(capsys, "explain", "acme/bias-left", "--rules", "rules")
    assert code == 0
    assert out.startswith(page().rstrip("\n"))
    assert f"`acme/bias-left` comes from {tmp_path / 'rules' / 'acme'}." in out
    code, out, err = said(capsys, "explain", "acme/bias-right")
    assert code == 2 and "acme/bias-right: no such rule" in err


def test_what_a_page_says_does_not_drive_the_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    write_rule(tmp_path / "rules", text=page().replace("This.", "This \x1b[2J\x1b]0;owned\x07."))
    code, out, _ = said(capsys, "explain", "acme/bias-left", "--rules", "rules")
    assert code == 0 and "\x1b" not in out and "\\x1b[2J" in out


def test_a_new_rule_is_written_and_nothing_is_overwritten(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = said(capsys, "new-rule", "acme-lab/gate-open")
    module = tmp_path / "rules" / "acme_lab" / "gate_open.py"
    assert code == 0 and "devfix test rules/acme_lab/gate_open.md" in out
    assert read_page(module.with_suffix(".md")).title == "Gate open."
    assert {path.name for path in module.parent.iterdir()} == {"gate_open.py", "gate_open.md"}
    module.with_suffix(".md").write_text("mine")
    code, _, err = said(capsys, "new-rule", "acme-lab/gate-open")
    assert code == 2 and "is not overwritten" in err
    module.unlink()
    code, _, err = said(capsys, "new-rule", "acme-lab/gate-open")
    assert code == 2 and not module.exists() and module.with_suffix(".md").read_text() == "mine"


@pytest.mark.parametrize("name", ["gate", "acme/", "/gate", "Acme/gate", "acme/gate_open", "acme/a/b", "../acme/x", ""])
def test_a_name_that_is_none_is_wrong_usage(capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str) -> None:
    code, _, err = said(capsys, "new-rule", name)
    assert code == 2 and "a rule is called PACK/NAME" in err
    assert not (tmp_path / "rules").exists()


@pytest.mark.slow
def test_the_case_of_a_new_rule_fails_until_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "new-rule", "acme/gate-open")
    code, out, _ = said(capsys, "test", "rules")
    assert code == 1
    assert "is not repaired: `diagnose` blames nothing" in out
    assert "ok    brought to the host on purpose" in out
    assert "1 rules, 2 cases: 1 failed" in out


@pytest.mark.slow
def test_pages_are_tested_and_updated(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    handwritten = page(repaired(after="x = 1"), left_alone())
    module = write_rule(tmp_path / "rules", text=handwritten)
    code, out, _ = said(capsys, "test", str(module))
    assert code == 1 and "FAIL  left behind" in out and "-x = 1" in out
    code, out, _ = said(capsys, "test", "rules", "--update")
    assert code == 1 and "kept  a block that is not empty in rules/acme/bias_left.md" in out and "-x = 1" in out
    assert module.with_suffix(".md").read_text("utf-8") == handwritten
    code, out, _ = said(capsys, "test", "rules", "--update", "--overwrite")
    assert code == 0 and "updated  rules/acme/bias_left.md" in out
    assert module.with_suffix(".md").read_text("utf-8") == page()


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "word"), [("n", "kept"), ("y", "updated")])
def test_on_a_terminal_an_update_asks(tmp_path: Path, answer: str, word: str) -> None:
    module = write_rule(tmp_path / "rules", text=page(repaired(after="x = 1"), left_alone()))
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "devfix", "test", str(module), "--update"]
    os.write(ours, f"{answer}\n".encode())
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=tmp_path) as process:
        os.close(theirs)
        said = ""
        with contextlib.suppress(OSError):  # the end of a terminal, on Linux
            while found := os.read(ours, 4096):
                said += found.decode()
    os.close(ours)
    assert "-x = 1" in said and "Replace what is on the page? [y/N]" in said
    assert ("updated  " in said) is (word == "updated") and process.returncode == (answer == "n")
    assert (module.with_suffix(".md").read_text("utf-8") == page()) is (answer == "y")


@pytest.mark.slow
def test_some_cases_are_run_and_changes_are_shown_without_running_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write_rule(tmp_path / "rules", text=page(repaired(after="x = 1"), left_alone(), title="Not in order."))
    code, out, _ = said(capsys, "test", "rules", "-k", "ON PURP")
    assert code == 0 and "1 rules, 1 cases: all pass" in out and "left behind" not in out
    code, out, _ = said(capsys, "test", "rules", "--preview", "--only", "left behind")
    assert (code, out.splitlines()[:5]) == (
        0,
        [
            "acme/bias-left",
            "  left behind",
            "    blamed (direct): It never was on cuda:0.",
            "    1. Move `bias` to `device` (safe)",
            "       --- main.py (before)",
        ],
    )
    assert "       +print((weight + bias.to(device)).tolist())" in out.splitlines() and "on purpose" not in out
    code, out, _ = said(capsys, "test", "rules", "--preview", "-k", "on purpose")
    assert code == 0 and "    left alone: `diagnose` blames nothing" in out.splitlines()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "nowhere: no such rule"),
        (["nowhere.md"], "nowhere.md: no such file"),
        (["rules", "--python", "/nowhere/python"], "--python /nowhere/python: no such interpreter"),
        (["rules", "-k", "elsewhere"], "-k 'elsewhere': no case of these rules has that in its name"),
        (["rules", "--only", "left"], "--only 'left': no case of these rules is called that"),
        (["rules", "--only", "left behnd"], "did you mean 'left behind'?"),
        (["rules", "--overwrite"], "--overwrite says how to --update"),
        (["rules", "--update", "-k", "left"], "--update writes whole pages"),
        (["rules", "twins"], "two rules are called acme/bias-left: "),
    ],
)
def test_wrong_usage_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], words: str
) -> None:
    write_rule(tmp_path / "rules")
    write_rule(tmp_path / "twins")
    code, _, err = said(capsys, "test", *arguments)
    assert code == 2 and words in err and err.count("\n") == 1


@pytest.mark.slow
def test_a_module_that_is_no_rule_fails_and_the_others_are_tested(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    write_rule(tmp_path / "rules", text=page())
    write_rule(tmp_path / "rules", "wrong", rule="x = 1\n")
    code, out, _ = said(capsys, "test", "rules")
    assert (
        code == 1
        and "wrong.py: is not a rule, it needs one class" in out
        and "2 cases: 1 modules that are not rules" in out
    )
