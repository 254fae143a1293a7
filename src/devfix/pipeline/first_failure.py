"""The first look at a program: which of its commands fails on a device, and on how many GPUs."""

from __future__ import annotations

from dataclasses import replace

from devfix.model import Outcome, Run
from devfix.pipeline.more_gpus import run_with_enough_gpus
from devfix.pipeline.obstacles import obstacle_of
from devfix.pipeline.session import Session


def first_run(session: Session) -> Run:
    """Run the commands, cheapest first, until one fails on a device; the target is that command from then on.

    A command that asks for more GPUs than there are runs in a world that has them; the next one starts with the first.
    """
    first = session.target
    tried = []
    for command in session.commands:
        session.observer.target = replace(first, command=command.words)
        session.command_text, session.gpus_needed = command.shown, None
        session.progress(f"running {command.shown} on {session.world.name}")
        run = run_with_enough_gpus(session, session.run(session.world, {}, True), {})
        tried.append((run, command, session.target, session.gpus_needed))
        if len(session.commands) > 1:
            obstacle = obstacle_of(session, run)
            why = f", {obstacle.message}" if obstacle else ""
            session.notes.append(f"tried `{command.shown}` ({command.origin}): {run.outcome.value}{why}")
        if run.outcome is Outcome.FAILED:
            return run
    # Of several commands that do not fail on a device, one that runs says more than one that lacks an argument.
    best = next((each for each in tried if each[0].outcome is Outcome.CLEAN), tried[0])
    run, command, session.observer.target, session.gpus_needed = best
    session.command_text = command.shown
    return run
