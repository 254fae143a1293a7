"""What recorded runs depend on: each change of it makes another fingerprint, and nothing else does."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import grimp
import pytest

from devfix.errors import UserError
from devfix.rule_testing.recording import fingerprint as module
from devfix.rule_testing.recording.fingerprint import PARTS, fingerprint, installed_packages

PYTHON = Path(sys.executable)


def test_what_makes_a_run_is_part_of_it() -> None:
    """`devfix.execution` runs programs and reads their traces; the probe is started by it, and imports only itself."""
    imported = grimp.build_graph("devfix", cache_dir=None).find_upstream_modules("devfix.execution", as_package=True)
    parts = {name.split(".")[1] for name in imported if "." in name}
    assert parts and parts | {"execution", "probe"} <= {part.removesuffix(".py") for part in PARTS}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of installed packages that this interpreter has too."""
    folder = tmp_path / "site-packages"
    (folder / "acme-1.0.dist-info").mkdir(parents=True)
    (folder / "acme-1.0.dist-info" / "RECORD").write_text("acme/__init__.py,,\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


def test_another_version_of_a_package_is_told(site: Path) -> None:
    before = installed_packages(PYTHON)
    assert installed_packages(PYTHON) == before
    (site / "acme-1.0.dist-info").rename(site / "acme-1.1.dist-info")
    assert installed_packages(PYTHON) != before


def test_the_sources_of_an_editable_package_are_told_but_not_its_rules(site: Path, tmp_path: Path) -> None:
    root, info = tmp_path / "project", site / "acme-1.0.dist-info"
    for name in ("src/acme/layers.py", "src/acme/rules/gate.py", ".git/hook.py", ".venv/lib/x.py", "README.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x = 1\n")
    (root / ".venv" / "pyvenv.cfg").write_text("")
    (info / "direct_url.json").write_text(json.dumps({"url": root.as_uri(), "dir_info": {"editable": True}}))
    (info / "entry_points.txt").write_text("[console_scripts]\na = b:c\n\n[devfix.rules]\nacme = acme.rules\n")
    before = installed_packages(PYTHON)
    for name in ("src/acme/rules/gate.py", ".git/hook.py", ".venv/lib/x.py", "README.md"):
        (root / name).write_text("x = 1234\n")
    assert installed_packages(PYTHON) == before, "no program imports the rules, and the rest is none of the package"
    (root / "src/acme/layers.py").write_text("x = 1234\n")
    assert installed_packages(PYTHON) != before


def test_modules_on_the_path_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "helper.py").write_text("x = 1\n")
    before = installed_packages(PYTHON)
    (tmp_path / "helper.py").write_text("x = 1234\n")
    assert installed_packages(PYTHON) != before


def test_the_probe_and_the_environment_count_and_the_rule_api_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "devfix"
    for part in (*PARTS, "sdk"):
        source = module._DEVFIX / part
        if source.is_dir():
            shutil.copytree(source, copy / part)
        else:
            copy.mkdir(exist_ok=True)
            shutil.copy(source, copy / part)
    monkeypatch.setattr(module, "_DEVFIX", copy)
    monkeypatch.delenv("ACME_FLAG", raising=False)
    before = fingerprint(PYTHON)
    monkeypatch.setenv("WINDOWID", "12")
    (copy / "sdk" / "changes.py").write_text("")
    assert fingerprint(PYTHON) == before
    monkeypatch.setenv("ACME_FLAG", "1")
    flagged = fingerprint(PYTHON)
    assert flagged != before, "a program may read any variable"
    with (copy / "probe" / "config.py").open("a") as file:
        file.write("# another probe\n")
    assert fingerprint(PYTHON) not in (before, flagged)


def test_an_interpreter_without_torch_is_told(tmp_path: Path) -> None:
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    with pytest.raises(UserError, match="it has no torch, which rules' cases need; name an interpreter that has it"):
        fingerprint(bare)
