"""The fixtures for authors run programs that are strings."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rule_packs import AFTER, BEFORE

from devfix.errors import UserError
from devfix.model import SourceLocation
from devfix.rule_testing.fixtures import context_from, failure_from, sources_of

LIBRARY = "import torch\n\n\ndef add(weight):\n    return weight + torch.zeros(3)\n"
PROGRAM = "import torch\nimport adding\n\nprint(adding.add(torch.ones(3).cuda()))\n"


@pytest.mark.slow
def test_a_program_gives_a_context_with_the_suspect_in_view() -> None:
    ctx = context_from(BEFORE)
    assert (ctx.name, ctx.operand.device, ctx.target_device) == ("`bias`", "cpu", "cuda:0")
    assert [site.kind for site in ctx.sites()] == ["creation", "use"]
    change = next(change for site in ctx.sites("use") for change in site.move_argument())
    assert change.edits[0].after.decode() == AFTER


@pytest.mark.slow
def test_a_program_may_have_several_files_and_gpus() -> None:
    files = {"main.py": PROGRAM, "adding.py": LIBRARY}
    failure = failure_from(files, gpus=2, current=1)
    assert failure.at == SourceLocation("adding.py", 5, "add", 5, 11, 34, owned=True)
    assert [operand.device for operand in failure.operands] == ["cuda:1", "cpu"]
    sources = sources_of(files)
    assert failure.at is not None and sources.file(failure.at) is not None
    assert [file.path for file in sources.containing("import torch")] == ["adding.py", "main.py"]


@pytest.mark.slow
def test_a_program_that_does_not_fail_is_an_error_that_says_how_it_ends() -> None:
    with pytest.raises(UserError, match="does not fail on a device: clean in the world cuda x1"):
        failure_from("import torch\n")
    with pytest.raises(UserError, match="KeyError: 'ids'"):
        failure_from("raise KeyError('ids')\n")


@pytest.mark.slow
def test_nothing_is_left_behind(tmp_path: Path) -> None:
    code = f"from devfix.rule_testing.fixtures import failure_from; print(failure_from({BEFORE!r}).kind)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    assert (done.returncode, done.stdout) == (0, "device-mismatch\n"), done.stderr
    assert list(tmp_path.iterdir()) == []
