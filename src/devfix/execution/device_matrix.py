"""The worlds in which a fix has to hold."""

from __future__ import annotations

from devfix.model import World
from devfix.model.world import WorldKind


def worlds_to_verify(home: World, python_sees: int) -> list[World]:
    """Every world in which a fix must be no worse: none, one, two GPUs, and two of which the second is current.

    Real GPUs are used as far as there are any; worlds with more are simulated.
    """

    def gpus(count: int, current: int = 0) -> World:
        kind: WorldKind = "real" if home.kind == "real" and count <= python_sees else "simulated"
        return World(kind, count, current)

    others = [World("cpu"), gpus(1), gpus(2), gpus(2, 1)]
    return [home, *(world for world in others if (world.gpus, world.current) != (home.gpus, home.current))]
