"""The worlds in which a fix is verified."""

from __future__ import annotations

from collections.abc import Collection

from devfix.model import DeviceType, World
from devfix.model.world import WorldKind

_COUNTS = ((1, 0), (2, 0), (2, 1))  # how many GPUs, and which is current


def worlds_to_verify(home: World, python_sees: int, claimed: Collection[DeviceType] = ()) -> list[World]:
    """Return the worlds in which a fix must be no worse: no, one and two GPUs, and two with the second one current.

    Real GPUs are used as far as available; worlds with more are simulated. One GPU of each other kind that the
    repository `claimed` to support follows, and of CUDA's in any case.
    """

    def gpus(count: int, current: int) -> World:
        kind: WorldKind = "real" if home.kind == "real" and count <= python_sees else "simulated"
        return World(kind, count, current, home.device)

    alike = [gpus(count, current) for count, current in _COUNTS if count <= home.device.most]
    others = [World("cpu"), *(world for world in alike if (world.gpus, world.current) != (home.gpus, home.current))]
    kinds = [each for each in DeviceType if each is not home.device and (each in claimed or each is DeviceType.CUDA)]
    if home.kind == "cpu":
        others = others[1:]
    return [home, *others, *(World("simulated", 1, device=each) for each in kinds)]
