"""The pytest plugin: a rule package's `pytest` runs its pages. Each test runs a pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from rule_packs import left_alone, page, repaired, write_rule

pytestmark = pytest.mark.slow

# An environment that was installed before the plugin was added has it by name alone.
NAMED = [] if entry_points(group="pytest11", name="devfix-rules") else ["-p", "devfix.rule_testing.plugin"]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", *NAMED, "-p", "no:cacheprovider", "-v", *arguments]
    environment = dict(os.environ)
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)


def test_pages_beside_rules_are_tests_that_pass_and_fail(tmp_path: Path) -> None:
    write_rule(tmp_path)
    write_rule(tmp_path, "other", text=page(repaired(after="x = 1"), left_alone()))
    (tmp_path / "README.md").write_text(page())
    (tmp_path / "acme" / "notes.md").write_text("# Notes\n")
    done = run(tmp_path)
    assert "acme/bias_left.md::left behind PASSED" in done.stdout
    assert "acme/bias_left.md::on purpose PASSED" in done.stdout
    assert "acme/bias_left.md::page PASSED" in done.stdout
    assert "acme/other.md::left behind FAILED" in done.stdout
    assert "the first change is not `after`\n    --- main.py (after, on the page)" in done.stdout
    assert "-x = 1" in done.stdout
    assert "Traceback" not in done.stdout
    assert "1 failed, 5 passed" in done.stdout
    assert done.returncode == 1


def test_a_page_that_is_none_and_a_rule_that_is_none_are_told(tmp_path: Path) -> None:
    write_rule(tmp_path, text=page().replace("## Cases", "## Case"))
    write_rule(tmp_path, "broken", rule="import nothing_like_this\n")
    done = run(tmp_path)
    assert "bias_left.md:1: the headings must be, in this order" in done.stdout
    assert "broken.py: cannot be imported: ModuleNotFoundError: No module named 'nothing_like_this'" in done.stdout
    assert "2 errors" in done.stdout


def test_a_pack_asks_for_its_pages_and_may_refuse_them(tmp_path: Path) -> None:
    write_rule(tmp_path / "src", text=page(left_alone(), repaired()))
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_other.py").write_text("def test_other(): pass\n")
    settings = tmp_path / "pytest.ini"
    settings.write_text("[pytest]\ntestpaths = tests\ndevfix_rules = src/acme\n")
    assert "4 tests collected" in run(tmp_path, "--collect-only").stdout
    assert "1 test collected" in run(tmp_path, "--collect-only", "tests").stdout
    settings.write_text("[pytest]\ndevfix_rule_pages = false\n")
    assert "1 test collected" in run(tmp_path, "--collect-only").stdout


def test_one_case_can_be_named(tmp_path: Path) -> None:
    write_rule(tmp_path)
    done = run(tmp_path, "acme/bias_left.md::on purpose")
    assert "1 passed" in done.stdout, done.stdout


def test_devfix_is_not_imported_where_there_is_no_page(tmp_path: Path) -> None:
    (tmp_path / "test_x.py").write_text(
        "import sys\n\ndef test_x():\n    assert 'devfix.rule_testing.plugin' in sys.modules\n"
        "    assert 'libcst' not in sys.modules and 'torch' not in sys.modules\n"
    )
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(not NAMED and not entry_points(group="pytest11", name="xdist"), reason="needs pytest-xdist")
def test_cases_run_under_xdist(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    write_rule(tmp_path)
    done = run(tmp_path, "-n", "2", *(["-p", "xdist"] if NAMED else []))
    assert "3 passed" in done.stdout, done.stdout
