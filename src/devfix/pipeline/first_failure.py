"""Find the command of a program that fails on a device, and the number of GPUs that it needs."""

from __future__ import annotations

from dataclasses import replace

from devfix.model import Outcome, Run
from devfix.pipeline.more_gpus import run_with_enough_gpus
from devfix.pipeline.obstacles import obstacle_of
from devfix.pipeline.session import Session


def first_run(session: Session) -> Run:
    """Run the commands, cheapest first, until one fails on a device; it becomes the target of the session.

    A command that asks for more GPUs runs in a world that has them; the next command starts with the first world again.
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
            session.notes.add(f"tried `{command.shown}` ({command.origin}): {run.outcome.value}{why}")
        if run.outcome is Outcome.FAILED:
            return run
    # If no command fails on a device, one that runs clean is preferred to one that lacks an argument.
    best = next((each for each in tried if each[0].outcome is Outcome.CLEAN), tried[0])
    run, command, session.observer.target, session.gpus_needed = best
    session.command_text = command.shown
    return run
