"""The record of an obstacle."""

from __future__ import annotations

from devfix.model import Obstacle


def obstacle_record(obstacle: Obstacle) -> dict[str, str]:
    """Return the value of "obstacle" in a record."""
    return {"kind": obstacle.lack.value, "message": obstacle.message, "advice": obstacle.advice}
