"""No frame of the probe is in the trace or in what the user reads, wherever the program and the tests lie."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from networks import NET
from probe_programs import ENTRY, run_program

from devfix.execution.prefork import PreforkServer

PROBE = ENTRY.parent


@pytest.mark.parametrize("name", ["program", "devfix"])
def test_no_frame_of_the_probe_is_told_or_shown(tmp_path: Path, warm: PreforkServer, name: str) -> None:
    """The folder of a program, or of the environment, may have a name in which `devfix` occurs."""
    (tmp_path / name).mkdir()
    ran = run_program(tmp_path / name, NET, warm=warm)
    shown = [ran.done.stderr, ran.failure["traceback"]]
    paths = {frame["place"]["path"] for frame in ran.failure["frames"]}
    for text in shown:
        assert 'File "' in text
        paths.update(re.findall(r'File "(.*?)"', text))
    assert not [path for path in paths if Path(path).is_relative_to(PROBE)]
    assert not [text for text in shown if "devfix" in re.sub(r'File ".*?"', "", text)]
