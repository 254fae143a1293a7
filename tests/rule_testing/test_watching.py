"""`devfix test --watch`: a rule that is saved is loaded again, alone, and its cases are tested."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Queue

import pytest
from rule_packs import AFTER, RULE, page, repaired, write_rule

from devfix.registry.loading import rule_at
from devfix.rule_testing.authoring.watching import Watched

DECLARED = """title = "{}"
message = "{{name}} never moved."

[[fix]]
at = "use"
edit = "move-argument"
"""
HELPER = 'REASON = "It never moved."\n'
HELPED = RULE.replace('f"It never was on {each.peer.device}."', "REASON").replace(
    "from devfix.sdk", "from ._words import REASON\n\nfrom devfix.sdk"
)


def reason(rule: object) -> object:
    return sys.modules[rule.module.__name__].REASON  # type: ignore[attr-defined]


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """A folder with a package of two rules, of which one imports a third module."""
    write_rule(tmp_path, "bias_left", rule=HELPED)
    module = write_rule(tmp_path, "gate_left")
    module.with_name("_words.py").write_text(HELPER)
    module.with_name("__init__.py").write_text("")
    return module.parent


def test_only_the_module_that_was_saved_is_loaded_again(pack: Path) -> None:
    bias, gate = rule_at(pack / "bias_left.py"), rule_at(pack / "gate_left.py")
    watched = Watched([bias, gate])
    assert watched.folders == [pack]
    gate.path.write_text(RULE.replace("The bias stays behind", "The gate stays behind"))
    (now,), problems = watched.changed_rules({gate.path})
    assert (now.id, now.title, problems) == (gate.id, "The gate stays behind.", [])
    assert watched.rules[bias.path].module is bias.module
    # Within one second, and of the same length: the compiled file must not be taken for it.
    gate.path.write_text(RULE.replace("The bias stays behind", "The door stays behind"))
    assert watched.changed_rules({gate.path})[0][0].title == "The door stays behind."


def test_a_page_concerns_its_rule_and_a_helper_all_rules_of_its_folder(pack: Path) -> None:
    watched = Watched([rule_at(pack / "bias_left.py"), rule_at(pack / "gate_left.py")])
    assert [rule.id for rule in watched.changed_rules({pack / "gate_left.md"})[0]] == ["acme/gate-left"]
    assert watched.changed_rules({pack / "README.txt", pack / "other.md"}) == ([], [])
    (pack / "_words.py").write_text(HELPER.replace("moved", "stood"))
    both, problems = watched.changed_rules({pack / "_words.py"})
    assert [rule.id for rule in both] == ["acme/bias-left", "acme/gate-left"] and not problems
    assert reason(both[0]) == "It never stood."


def test_a_module_that_is_broken_is_told_and_taken_when_it_is_whole_again(pack: Path) -> None:
    gate = rule_at(pack / "gate_left.py")
    watched = Watched([gate])
    gate.path.write_text(RULE.replace("class", "clas"))
    rules, (problem,) = watched.changed_rules({gate.path})
    assert rules == [] and f"{gate.path}: cannot be imported: SyntaxError" in problem.replace("raised ", "")
    gate.path.write_text(RULE)
    assert [rule.id for rule in watched.changed_rules({gate.path})[0]] == [gate.id]


def test_a_rule_that_is_data_is_compiled_again(tmp_path: Path) -> None:
    file = tmp_path / "acme" / "bias_left.toml"
    file.parent.mkdir()
    file.write_text(DECLARED.format("The bias stays behind."))
    file.with_suffix(".md").write_text(page(repaired(AFTER)))
    watched = Watched([rule_at(file)])
    file.write_text(DECLARED.format("The gate stays behind."))
    (now,), problems = watched.changed_rules({file})
    assert (now.id, now.title, problems) == ("acme/bias-left", "The gate stays behind.", [])
    assert [rule.title for rule in watched.changed_rules({file.with_suffix(".md")})[0]] == ["The gate stays behind."]
    file.write_text("title = 1\n")
    rules, (problem,) = watched.changed_rules({file})
    assert rules == [] and problem.startswith(f"{file}")


class Command:
    """`devfix test --watch` in another process, line by line."""

    def __init__(self, *words: str) -> None:
        command = [sys.executable, "-m", "devfix", "test", "--watch", *words]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines: Queue[str] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line.rstrip())
        self.lines.put("the end")

    def until(self, words: str) -> list[str]:
        found = [self.lines.get()]
        while words not in found[-1]:
            assert found[-1] != "the end", found
            found.append(self.lines.get())
        return found


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Command]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    made = Command(str(write_rule(tmp_path)))
    yield made
    made.process.kill()
    made.process.wait()


@pytest.mark.slow
def test_what_is_saved_is_tested_until_the_command_is_interrupted(command: Command, tmp_path: Path) -> None:
    assert any("2 cases: all pass" in line for line in command.until("watching 1 rules"))
    module = tmp_path / "acme" / "bias_left.py"
    module.write_text(RULE.replace("stays behind", "is left"))
    lines = command.until("1 rules, 2 cases")
    assert any("FAIL  the title is not the rule's" in line for line in lines)
    assert "0 runs made" in lines[-1], "nothing that is run has changed"
    module.write_text(RULE.replace('"use"', '"creation"'))
    lines = command.until("1 rules, 2 cases")
    assert any("is not repaired" in line for line in lines)
    new = tmp_path / "new.md"  # as editors save: written beside, and renamed
    new.write_text(page(repaired(before=AFTER)))
    os.replace(new, module.with_suffix(".md"))
    assert any("does not fail on a device" in line for line in command.until("1 rules, 1 cases"))
    command.process.send_signal(signal.SIGINT)
    assert command.process.wait() == 130
