"""Run devfix's command line and send it a signal at one of its own steps: `killed.py STEP SIGNAL COUNTED ARGUMENT...`.

A step is something that devfix does to the system: it opens a file, makes a folder, starts a process. STEP 0 is never
reached; the file COUNTED gets the number of steps of a run that comes to its end.
"""

from __future__ import annotations

import atexit
import itertools
import os
import signal
import sys
from pathlib import Path

from devfix.cli import main

PREFIXES = ("open", "os.", "shutil.", "subprocess.", "tempfile.", "socket.", "fcntl.", "glob.")

if __name__ == "__main__":
    step, number, counted = int(sys.argv[1]), signal.Signals[sys.argv[2]], Path(sys.argv[3])
    steps = itertools.count(1)
    last = [0]

    def audit(event: str, arguments: object) -> None:
        if event.startswith(PREFIXES):
            last[0] = next(steps)
            if last[0] == step:
                os.kill(os.getpid(), number)

    atexit.register(lambda: counted.write_text(str(last[0])))
    sys.addaudithook(audit)
    main(sys.argv[4:])
