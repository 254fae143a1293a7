"""The process that has run a session of tests already: what it reports is what a fresh process reports."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import HANGS

import devfix
from devfix.execution.prefork import PreforkServer
from devfix.execution.pytest_runner import LAUNCHER, launcher, preparation
from devfix.process import child_environment, run

PYTHON = Path(sys.executable)
TESTS = """
import pytest

def test_that_fails(tmp_path):
    assert [1, 2] == [1, 3]

@pytest.mark.gpus(1)
def test_on_a_gpu():
    import torch

    assert torch.ones(2, device="cuda").device.index == 0
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "imports").mkdir()
    (tmp_path / "imports" / "devfix").symlink_to(Path(devfix.__file__).parent, target_is_directory=True)
    root = tmp_path / "program"
    root.mkdir()
    (root / LAUNCHER).write_bytes(launcher())
    # Warnings of pytest's own, of a plugin that was imported too early, would be errors.
    (root / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    (root / "test_it.py").write_text(TESTS)
    return root


@pytest.fixture
def given(folder: Path) -> dict[str, str]:
    return {"folder": str(folder.parent / "imports"), "root": str(folder)}


@pytest.fixture
def prepared(warm: PreforkServer, given: dict[str, str]) -> Iterator[PreforkServer]:
    branch = warm.branch(preparation(), given)
    yield branch
    branch.close()


@pytest.mark.slow
def test_a_prepared_process_reports_what_a_fresh_one_does(
    folder: Path, given: dict[str, str], prepared: PreforkServer
) -> None:
    surroundings = {**child_environment(), "PYTHONPATH": given["folder"], "PYTHONDONTWRITEBYTECODE": "1"}
    warm = prepared.run([LAUNCHER, "test_it.py"], folder, surroundings, HANGS)
    fresh = run([str(PYTHON), LAUNCHER, "test_it.py"], folder, surroundings, HANGS)
    assert warm.exit_code == fresh.exit_code
    said = [re.sub(r"(?<= in )\d.*|(?<=pytest-)\d+(?=/)", "", each.stdout + each.stderr) for each in (warm, fresh)]
    assert said[0] == said[1]
    assert "1 failed, 1 passed in" in said[0]


def test_pytest_and_its_plugins_are_imported(folder: Path, prepared: PreforkServer) -> None:
    (folder / "asks.py").write_text(
        "import sys\nprint({'pytest', 'xdist', '_pytest.unraisableexception'} - {*sys.modules})\n"
    )
    assert prepared.run(["asks.py"], folder, child_environment(), HANGS).stdout == "set()\n"


@pytest.mark.slow
def test_nothing_is_prepared_where_a_plugin_is_the_programs_own(folder: Path, given: dict[str, str]) -> None:
    """Its module would be the one without the fix in every run."""
    told = folder / "own-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1\n")
    (told / "entry_points.txt").write_text("[pytest11]\nown = own_plugin\n")
    (folder / "own_plugin.py").write_text("")
    (folder / "asks.py").write_text("import sys\nprint('pytest' in sys.modules, 'own_plugin' in sys.modules)\n")
    surroundings = {**child_environment(), "PYTHONPATH": os.fspath(folder)}
    server = PreforkServer(PYTHON, surroundings)
    try:
        branch = server.branch(preparation(), given)
        assert branch.run(["asks.py"], folder, surroundings, HANGS).stdout == "False False\n"
    finally:
        server.close()
