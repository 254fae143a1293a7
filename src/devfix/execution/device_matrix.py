"""The worlds in which a fix is verified."""

from __future__ import annotations

from devfix.model import World
from devfix.model.world import WorldKind


def worlds_to_verify(home: World, python_sees: int) -> list[World]:
    """Return the worlds in which a fix must be no worse: no, one and two GPUs, and two with the second one current.

    Real GPUs are used as far as available; worlds with more are simulated.
    """

    def gpus(count: int, current: int = 0) -> World:
        kind: WorldKind = "real" if home.kind == "real" and count <= python_sees else "simulated"
        return World(kind, count, current)

    others = [World("cpu"), gpus(1), gpus(2), gpus(2, 1)]
    return [home, *(world for world in others if (world.gpus, world.current) != (home.gpus, home.current))]
