"""A lifted run of a suite: where its tensors are, and what is done beside that to show more."""

from __future__ import annotations

from dataclasses import dataclass

from devfix.model import World

TWICE, TELLS = "--lift-twice", "--lift-device"


@dataclass(frozen=True)
class LiftedPass:
    """A run of a suite: its options, and its share of the time that is left for the suite."""

    name: str
    world: World
    title: str
    share: float
    more: tuple[str, ...] = ()
    past: tuple[str, ...] = ()

    @property
    def is_twice(self) -> bool:
        """True if its tests run on another GPU first."""
        return TWICE in self.more

    @property
    def tells(self) -> bool:
        """True if calls are told the GPU by a `device` that its tests leave out."""
        return TELLS in self.more

    @property
    def shown_by(self) -> tuple[str, ...]:
        """Its options but for the lines that it goes past."""
        return tuple(each for each in (TWICE, TELLS) if each in self.more)
