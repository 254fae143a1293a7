"""Fixtures for unit tests of rules: the failure of a program that is a string, its sources, and a context.

>>> from devfix.rule_testing.fixtures import context_from
>>> ctx = context_from("import torch\\nprint(torch.ones(2, device='cuda') + torch.ones(2))\\n")
>>> ctx.operand.device, ctx.target_device
('cpu', 'cuda:0')
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from devfix.errors import UserError
from devfix.model import Failure, World
from devfix.rule_testing.checking.format import format_ending
from devfix.rule_testing.checking.proposal import sources_of as sources_of_case
from devfix.rule_testing.checking.runner import Bench
from devfix.rule_testing.pages.case import PROGRAM, Case
from devfix.sdk import Context, Sources

Files = str | Mapping[str, str]


def failure_from(program: Files, gpus: int = 1, current: int = 0) -> Failure:
    """Return the device failure of a program, run on simulated GPUs by this interpreter, with all that a rule may ask.

    `program` is the text of main.py, or maps paths to texts; then main.py is run. `current` is the current GPU. Raises
    UserError if the program does not fail on a device. Runs of a test session share one server, which ends with it.
    """
    case = _case(program, World("simulated", gpus, current))
    failure, run = _bench().failing(case)
    if failure is None:
        raise UserError(f"the program does not fail on a device: {format_ending(run)}")
    return failure


def sources_of(files: Files) -> Sources:
    """Return the editable files of a program: the text of main.py, or a mapping of paths to texts."""
    return sources_of_case(_case(files, World("cpu")))


def context_from(program: Files, gpus: int = 1, current: int = 0) -> Context:
    """Return what a rule is given for a program's failure, with the likeliest suspect in view, if there is one.

    Raises UserError if the program does not fail on a device.
    """
    ctx = Context(failure_from(program, gpus, current), sources_of(program))
    return next(ctx.suspects(), ctx)


def _case(files: Files, world: World) -> Case:
    texts = {PROGRAM: files} if isinstance(files, str) else files
    return Case("program", 1, world, {}, {name: text.encode() for name, text in texts.items()}, {}, "", None, ())


@cache
def _bench() -> Bench:
    bench = Bench(Path(sys.executable))
    atexit.register(bench.close)
    return bench
