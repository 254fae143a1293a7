"""What a program misses here, as reports and runs record it."""

from __future__ import annotations

from devfix.model import Obstacle


def obstacle_record(obstacle: Obstacle) -> dict[str, str]:
    """Return what a record holds under "obstacle"."""
    return {"kind": obstacle.lack.value, "message": obstacle.message, "advice": obstacle.advice}
