"""Folders of devfix processes that have died are cleared away, by several others at once too."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CLEAR = "from devfix.scratch import remove; from pathlib import Path; import sys; remove(Path(sys.argv[1]))"


def test_several_processes_remove_one_folder_at_once(tmp_path: Path) -> None:
    folder = tmp_path / "left"
    for number in range(300):
        inner = folder / f"{number % 3}" / f"{number}"
        inner.mkdir(parents=True)
        (inner / "file").touch()
    started = [subprocess.Popen([sys.executable, "-c", CLEAR, str(folder)], stderr=subprocess.PIPE) for _ in range(4)]
    errors = [process.communicate()[1] for process in started]
    assert [process.returncode for process in started] == [0] * 4, errors
    assert not folder.exists()
