"""Modules that the warm process runs: `python -m module`."""

from __future__ import annotations

from pathlib import Path

import pytest
from probe_programs import PYTHON
from waiting import HANGS

from devfix.execution.prefork import PreforkServer
from devfix.process import child_environment, run


@pytest.mark.slow
@pytest.mark.parametrize("module", ["plain", "package", "package.inner", "fails", "ends", "nowhere", "package.nowhere"])
def test_modules_run_as_in_fresh_interpreters(warm: PreforkServer, tmp_path: Path, module: str) -> None:
    tells = (
        "import sys\nprint(__name__, __file__, __package__, __spec__.name, __spec__.origin, type(__loader__))\n"
        "print(sys.argv, sys.path, sys.orig_argv, sys.modules['__main__'].__dict__ is globals())\n"
    )
    raises = "def f():\n    raise ValueError('x')\nf()\n"
    (tmp_path / "package").mkdir()
    for name, text in {
        "plain": tells,
        "fails": raises,
        "ends": "raise SystemExit(3)\n",
        "package/__init__": "print(__name__)\n",
        "package/__main__": tells,
        "package/inner": f"from . import __name__ as outer\nprint(outer)\n{tells}",
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    words = ["-m", module, "one", "-m", "--two"]
    fresh = run([str(PYTHON), *words], tmp_path, child_environment(), HANGS)
    child = warm.run(words, tmp_path, child_environment(), HANGS)
    assert (child.stdout, child.stderr) == (fresh.stdout, fresh.stderr)
    assert (child.exit_code, child.signal) == (fresh.exit_code, fresh.signal)
