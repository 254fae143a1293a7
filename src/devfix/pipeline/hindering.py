"""What a program misses on this machine, told from its last run and from what the repository declares."""

from __future__ import annotations

from functools import partial

from devfix.model import Obstacle, Run
from devfix.packages import declared
from devfix.pipeline.session import Session
from devfix.stages.hinder import Surroundings, hindrance


def obstacle_of(session: Session, run: Run) -> Obstacle | None:
    """Return what kept a run from working that has nothing to do with devices; None where nothing shows it."""
    tracked = session.observer.tracked
    around = Surroundings(
        session.target.python,
        session.repository.root,
        session.target.subfolder,
        tracked,
        partial(declared, tracked, session.repository.content),
    )
    return hindrance(run, around)
