"""Which modules a test finds is known from the files of the repository, and plain pytest says the same."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from devfix.regression_tests import find_home

TEST = "import model\n\ndef test_model():\n    assert model.x\n"
SCRIPTS = {"model.py": "x = 1\n", "tests/test_model.py": TEST}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("files", "test", "cannot"),
    [
        (SCRIPTS, "tests/test_model.py", True),
        ({**SCRIPTS, "tests/conftest.py": ""}, "tests/test_model.py", True),
        ({**SCRIPTS, "conftest.py": ""}, "tests/test_model.py", False),
        ({**SCRIPTS, "tests/__init__.py": ""}, "tests/test_model.py", False),
        ({**SCRIPTS, "pytest.ini": "[pytest]\npythonpath = .\n"}, "tests/test_model.py", False),
        ({"model.py": "x = 1\n", "test_model.py": TEST}, "test_model.py", False),
        ({**SCRIPTS, "tests/unit/__init__.py": "", "tests/unit/test_b.py": TEST}, "tests/unit/test_b.py", True),
    ],
    ids=["scripts", "conftest beside", "conftest above", "package", "configured", "one folder", "package below"],
)
def test_what_a_test_cannot_import_is_known(tmp_path: Path, files: dict[str, str], test: str, cannot: bool) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    home = find_home(files, "", lambda path: files[path].encode())
    assert home is not None and home.cannot_import("", test) is cannot
    plain = "import sys, pytest; sys.path.pop(0); sys.exit(pytest.main(sys.argv[1:]))"
    command = [sys.executable, "-c", plain, "-p", "no:cacheprovider", "-p", "no:xdist", test]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ("No module named 'model'" in done.stdout) is cannot, done.stdout


def test_what_may_be_installed_may_be_found() -> None:
    files = {**SCRIPTS, "pyproject.toml": "[project]\nname = 'model'\n"}
    home = find_home(files, "", lambda path: files[path].encode())
    assert home is not None and not home.cannot_import("", "tests/test_model.py")
