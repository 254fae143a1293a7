"""Packages in `src/` of a worktree are imported from there, whichever copy is installed."""

from __future__ import annotations

import venv
from pathlib import Path

import pytest
from probe_programs import ENTRY, environment

from devfix.process import run


@pytest.mark.parametrize(
    ("installed", "declared", "found"),
    [
        ((), True, "repository"),
        (("demo/__init__.py",), True, "repository"),
        (("demo/__init__.py", "demo/kernels.so"), True, "installed"),
        (("demo/__init__.py",), False, "installed"),
    ],
)
def test_a_package_in_src_is_imported_from_the_worktree(
    tmp_path: Path, installed: tuple[str, ...], declared: bool, found: str
) -> None:
    (tmp_path / "original").mkdir()
    source = tmp_path / "repository" / "src" / "demo"
    source.mkdir(parents=True)
    (source / "__init__.py").write_text("where = 'repository'\n")
    (source.parent / "json.py").write_text("where = 'repository'\n")
    if declared:
        (tmp_path / "repository" / "pyproject.toml").write_text("[project]\nname = 'demo'\nversion = '1'\n")
    venv.create(tmp_path / "environment", symlinks=True)
    site = next((tmp_path / "environment" / "lib").glob("python*/site-packages"))
    for name in installed:
        (site / name).parent.mkdir(exist_ok=True)
        (site / name).write_text("where = 'installed'\n")
    surroundings = {**environment(tmp_path, original=str(tmp_path / "original")), "PYTHONPATH": str(ENTRY)}
    program = "import demo, json; print(demo.where, hasattr(json, 'where'))"
    interpreter = str(tmp_path / "environment" / "bin" / "python")
    done = run([interpreter, "-c", program], tmp_path / "repository", surroundings, 60)
    assert done.stdout.split() == [found, "False"], done.stderr
