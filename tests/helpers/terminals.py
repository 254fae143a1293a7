"""A program in a pseudo-terminal, answered as a person at a keyboard does."""

from __future__ import annotations

import errno
import os
import pty
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

from waiting import until


def in_terminal(
    command: Sequence[str], folder: Path, answers: Sequence[tuple[str, str]], environment: Mapping[str, str]
) -> tuple[int, str]:
    """Run a command of devfix in a pseudo-terminal; return its exit code and what the screen got.

    Each answer is typed when its question has been printed since the answer before it.
    """
    process, screen = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.environ.update(environment)
        os.execv(sys.executable, [sys.executable, "-m", "devfix", *command])
    shown, since, left = b"", 0, list(answers)
    while data := _read(screen):
        shown += data
        if left and left[0][0].encode() in shown[since:]:
            since = len(shown)
            # What is typed before the program reads single keys would be thrown away when it begins to.
            until(lambda: not termios.tcgetattr(screen)[3] & termios.ICANON)
            os.write(screen, left.pop(0)[1].encode())
    os.close(screen)
    _, status = os.waitpid(process, 0)
    assert not left, (left, shown.decode())
    return os.waitstatus_to_exitcode(status), shown.decode()


def _read(screen: int) -> bytes:
    try:
        return os.read(screen, 65536)
    except OSError as error:  # nobody has the other end open
        if error.errno != errno.EIO:
            raise
        return b""
