"""Evidence against a patch whose run is clean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Strength = Literal["strong", "weak"]


@dataclass(frozen=True)
class Objection:
    """Evidence against a patch: "strong" rejects it, "weak" prefers another candidate.

    `numbers` is the expression on which the patch calls a method although it is a number, a list of numbers or an array
    elsewhere; a patch that accepts both would be valid.
    """

    strength: Strength
    reason: str
    numbers: str = ""
