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

from devfix.cli.repair import Format, FormatOption, Gpus, Python, Timeout, WorldOption, check_timeout
from devfix.model import Outcome, Run, WorldChoice

TIMED_OUT, NOT_STARTED = 124, 127  # as timeout(1) and the shells say it

EPILOG = """Examples:

\b
  devfix run -- python train.py --steps 2
  devfix run --gpus 2 --map -- torchrun --nproc-per-node 2 train.py

Exit code: the command's own; 128 and the number of the signal that killed it; 124 where its time was over; 127 where it
did not start; 2 wrong usage; 3 a fault of devfix itself."""


def run(
    command: Annotated[list[str], typer.Argument(metavar="-- COMMAND...", help="The command to run.")],
    world: WorldOption = WorldChoice.AUTO,
    gpus: Gpus = None,
    python: Python = None,
    timeout: Timeout = None,
    output: FormatOption = Format.text,
    device_map: Annotated[
        bool, typer.Option("--map", help="Show at the end how modules lie over the devices, and which lines copied.")
    ] = False,
) -> int:
    """Run a command on a machine with GPUs, real or simulated, and explain a device failure.

    Nothing is edited. The command's output passes through; what devfix has to say goes to standard error. With JSON as
    the format one object goes to standard output, and the command's own output to standard error.
    """
    check_timeout(timeout)
    from devfix import pipeline
    from devfix.cli.listing import lines_here
    from devfix.cli.screen import size_and_color
    from devfix.report.render.json import dump
    from devfix.report.render.run import run_record, run_text

    with _streams(output is Format.json):
        done = pipeline.run(command, world=world, gpus=gpus, python=python, timeout=timeout, device_map=device_map)
    data = run_record(done, shlex.join(command), lines_here(Path.cwd()))
    if output is Format.json:
        sys.stdout.write(dump(data))
    else:
        width, color = size_and_color(stderr=True)
        sys.stderr.write(run_text(data, device_map, color, width))
    return exit_code(done)


def exit_code(run: Run) -> int:
    """Return what a shell would call the end of the run."""
    if run.outcome is Outcome.TIMEOUT:
        return TIMED_OUT
    if run.outcome is Outcome.NOT_STARTED:
        return NOT_STARTED
    if run.signal:
        return 128 + int(getattr(signal, run.signal, 0))
    return 1 if run.exit_code is None else run.exit_code


@contextmanager
def _streams(apart: bool) -> Iterator[None]:
    """With `apart`, lead the standard output of our children to standard error, so that the record stands alone."""
    if not apart:
        yield
        return
    sys.stdout.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
