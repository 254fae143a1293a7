"""`devfix env` in a sandbox with the network, where nothing but a folder of the job can be written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import waiting
from git_repositories import make_repository
from package_index import PackageIndex

from devfix.process import why_no_sandbox

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(why_no_sandbox()), reason="needs bubblewrap"),
]
BUILD = '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'


def devfix_env(job: Path, index: PackageIndex, *options: str) -> dict[str, object]:
    """Run the command where only `job` is writable, with its home and all caches in there."""
    variables = {"HOME": job / "home", "XDG_CACHE_HOME": job / "cache", "UV_CACHE_DIR": job / "uv", "TMPDIR": job}
    sandbox = [
        *("bwrap", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--unshare-ipc", "--unshare-pid"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", str(job), str(job), "--clearenv"),
    ]
    given = {"PATH": os.environ["PATH"], "UV_DEFAULT_INDEX": index.address, "NO_PROXY": "127.0.0.1", **variables}
    for name, value in given.items():
        sandbox += ["--setenv", name, str(value)]
    command = [sys.executable, "-m", "devfix", "env", str(job / "program"), "--torch", "none", "--format", "json"]
    done = subprocess.run([*sandbox, "--", *command, *options], capture_output=True, timeout=waiting.HANGS)
    assert done.returncode in (0, 1), done.stderr.decode()
    return dict(json.loads(done.stdout))


def test_what_is_built_in_a_sandbox_writes_nowhere_else(index: PackageIndex, tmp_path: Path) -> None:
    job = tmp_path / "job"
    for name in ("home", "cache", "uv"):
        (job / name).mkdir(parents=True)
    marks = [tmp_path / "mark", job / "mark"]
    tries = "".join(f"try:\n    open({str(mark)!r}, 'w')\nexcept OSError:\n    pass\n" for mark in marks)
    setup = f"{tries}from setuptools import setup\nsetup(name='NAME', version='1.0', py_modules=['NAME'])\n"
    index.add("leaf")
    index.add_installed("setuptools")
    sources = {"setup.py": setup.replace("NAME", "hostile"), "hostile.py": "", "pyproject.toml": BUILD}
    index.add_source("hostile", "1.0", sources)
    files = {"setup.py": setup.replace("NAME", "program"), "program.py": "", "requirements.txt": "leaf\nhostile\n"}
    make_repository(job / "program", {**files, "pyproject.toml": BUILD})

    unbuilt = devfix_env(job, index, "--no-build")
    assert (unbuilt["packages"], unbuilt["needs_build"]) == (["leaf==1.0"], True)
    assert not any(mark.exists() for mark in marks)

    whole = devfix_env(job, index)
    assert (whole["packages"], whole["left_out"], whole["notes"]) == (["hostile==1.0", "leaf==1.0"], [], [])
    assert [mark.exists() for mark in marks] == [False, True]
    code = "import hostile, leaf, program; print(program.__file__)"
    said = subprocess.check_output([str(whole["python"]), "-c", code], text=True, cwd="/").strip()
    assert said == str(job / "program" / "program.py")
