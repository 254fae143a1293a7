"""The pytest plugin that an interpreter imports: this devfix's, whatever devfix it has itself."""

from __future__ import annotations

import sys
import venv
from pathlib import Path

import pytest

import devfix
from devfix.execution.pytest_plugin import plugin_folder

OTHER = {
    "devfix/__init__.py": "__version__ = '0.0.1'\n",
    "devfix-0.0.1.dist-info/METADATA": "Metadata-Version: 2.1\nName: devfix\nVersion: 0.0.1\n",
    "devfix-0.0.1.dist-info/entry_points.txt": "[pytest11]\ndevfix-gpus = devfix.pytest_gpus.plugin\n",
}


def test_an_interpreter_that_has_this_very_devfix_imports_its_own(tmp_path: Path) -> None:
    assert plugin_folder(Path(sys.executable), tmp_path) is None


@pytest.mark.parametrize("files", [{}, OTHER], ids=["none", "another"])
def test_an_interpreter_with_another_devfix_or_none_imports_this_one(tmp_path: Path, files: dict[str, str]) -> None:
    venv.create(tmp_path / "env", symlinks=True)
    (packages,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    for name, text in files.items():
        (packages / name).parent.mkdir(exist_ok=True)
        (packages / name).write_text(text)
    found = plugin_folder(tmp_path / "env" / "bin" / "python", tmp_path)
    assert found is not None and found.is_known == bool(files)
    assert (found.path / "devfix").resolve() == Path(devfix.__file__).resolve().parent
