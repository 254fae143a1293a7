"""A program in the warm process that is cancelled."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from waiting import HANGS

from devfix.execution.prefork import PreforkServer
from devfix.process import child_environment


@pytest.mark.slow
def test_a_cancelled_program_ends_and_the_server_goes_on(warm: PreforkServer, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(f"import time\nprint('begun', flush=True)\ntime.sleep({HANGS})\n")
    (tmp_path / "other.py").write_text("print('other')\n")
    cancelled = threading.Event()

    def hear(stream: int, data: bytes) -> None:
        cancelled.set()

    given = (tmp_path, child_environment(), HANGS)
    done = warm.run(["script.py"], *given, hear=hear, cancelled=cancelled)
    assert done.stdout == "begun\n" and done.exit_code is None and done.seconds < HANGS
    assert warm.run(["other.py"], *given).stdout == "other\n"
