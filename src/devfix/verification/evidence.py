"""A reason not to trust a patch, though the run that failed is clean with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Objection:
    """Evidence against a patch: "strong" keeps it from being kept, "weak" has another one preferred.

    `numbers` is the expression of which the patch calls a method, where that is a number or a list of them elsewhere:
    what takes both would do.
    """

    strength: Literal["strong", "weak"]
    reason: str
    numbers: str = ""
