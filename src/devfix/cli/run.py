"""`devfix run`."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from devfix.cli.repairing.repair import Format, FormatOption, Gpus, Python, Timeout, WorldOption, check_timeout
from devfix.model import Outcome, Run, WorldChoice

TIMED_OUT, NOT_STARTED = 124, 127  # as in timeout(1) and shells

EPILOG = """Examples:

\b
  devfix run -- python train.py --steps 2
  devfix run --gpus 2 --map -- torchrun --nproc-per-node 2 train.py

Exit code: that of the command; 128 plus the number of the signal that killed it; 124 after a timeout; 127 if it did not
start; 2 usage error; 3 internal error."""


def run(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="Command to run.")],
    world: WorldOption = WorldChoice.AUTO,
    gpus: Gpus = None,
    python: Python = None,
    timeout: Timeout = None,
    output: FormatOption = Format.text,
    device_map: Annotated[
        bool, typer.Option("--map", help="Print the devices of all modules, and the lines that copied between devices.")
    ] = False,
) -> int:
    """Run a command and explain its device failure.

    It runs with real or simulated GPUs. No file is edited. The output of the command passes through; the report
    goes to standard error. With the format json, one object goes to standard output, and the output of the command
    to standard error.
    """
    check_timeout(timeout)
    from devfix import pipeline
    from devfix.cli.output.listing import lines_here, root_of
    from devfix.cli.output.screen import size_and_color
    from devfix.report.render.machine_readable.json import dump
    from devfix.report.render.terminal.run import run_record, run_text

    with _streams(output is Format.json):
        done = pipeline.run(command, world=world, gpus=gpus, python=python, timeout=timeout, device_map=device_map)
    data = run_record(done, shlex.join(command), lines_here(Path.cwd()))
    if output is Format.json:
        sys.stdout.write(dump(data))
    else:
        width, color = size_and_color(stderr=True)
        here = os.path.relpath(Path.cwd(), root_of(Path.cwd()))
        sys.stderr.write(run_text(data, device_map, color, width, here))
    return exit_code(done)


def exit_code(run: Run) -> int:
    """Return the exit code of the run as a shell would."""
    if run.outcome is Outcome.TIMEOUT:
        return TIMED_OUT
    if run.outcome is Outcome.NOT_STARTED:
        return NOT_STARTED
    if run.signal:
        return 128 + int(getattr(signal, run.signal, 0))
    return 1 if run.exit_code is None else run.exit_code


@contextmanager
def _streams(apart: bool) -> Iterator[None]:
    """Redirect the standard output of child processes to standard error if `apart`."""
    if not apart:
        yield
        return
    sys.stdout.flush()
    saved = os.dup(1)
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)
