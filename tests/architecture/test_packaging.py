"""What is installed: the wheel as others get it, and the editable form as we do."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from wheels import installed, tracked

pytest.importorskip("setuptools")
ASK = """
import json, pathlib, pkgutil
from importlib.metadata import entry_points
import devfix, devfix_rules
engine, rule_folder = (pathlib.Path(package.__file__).parent for package in (devfix, devfix_rules))
packs = [point.load() for point in entry_points(group="devfix.rules")]
rules = [f"{pack.__path__[0]}/{rule.name}" for pack in packs for rule in pkgutil.iter_modules(pack.__path__)]
print(json.dumps({
    "engine": str(engine),
    "rule folder": str(rule_folder),
    "rules": rules,
    "without page": [rule for rule in rules if not pathlib.Path(f"{rule}.md").is_file()],
    "scripts": [point.value for point in entry_points(group="console_scripts") if point.name == "devfix"],
    "templates": len(list((engine / "report").rglob("*.jinja"))),
    "scripts of ours": [(engine / at).is_file() for at in ("probe/entry/sitecustomize.py", "process/supervisor.py")],
}))
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tracked(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = f"from setuptools import build_meta; build_meta.build_wheel({str(folder)!r})"
    done = subprocess.run([sys.executable, "-c", build], cwd=source, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    (made,) = folder.glob("*.whl")
    return made


def test_wheel_has_the_pages_and_nothing_of_ours(wheel: Path, source: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    declared = list((source / "rules").rglob("*.toml"))
    for page in [*(source / "rules").rglob("*.md"), *declared]:
        assert f"devfix_rules/{page.relative_to(source / 'rules')}" in names
    assert declared
    for module in (source / "src").rglob("*.py"):
        assert str(module.relative_to(source / "src")) in names
    assert {name.split("/")[0] for name in names if ".dist-info" not in name} == {"devfix", "devfix_rules"}
    assert not [name for name in names if "__pycache__" in name]
    assert [name for name in names if name.endswith("LICENSE")]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["wheel", "editable"])
def test_what_is_installed_has_all_its_parts(form: str, wheel: Path, source: Path, tmp_path: Path) -> None:
    python = installed(tmp_path / "environment", *([str(wheel)] if form == "wheel" else ["--editable", str(source)]))
    done = subprocess.run([python, "-I", "-c", ASK], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    home = tmp_path / "environment" if form == "wheel" else source
    assert Path(told["engine"]).is_relative_to(home) and Path(told["rule folder"]).is_relative_to(home)
    assert told["rules"] and not told["without page"]
    assert told["scripts"] == ["devfix.cli:main"]
    assert told["templates"] and all(told["scripts of ours"])
    asked = subprocess.run([python.with_name("devfix"), "--help"], cwd=tmp_path, capture_output=True, text=True)
    assert asked.returncode == 0 and "repair" in asked.stdout
