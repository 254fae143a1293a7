"""Notes of tensors of the host that the code under test creates, and of the calls of test code around that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .given import Given

Token = tuple[int, int, int]


@dataclass(frozen=True)
class Call:
    """The function that test code has called."""

    name: str
    path: str
    line: int


@dataclass(frozen=True)
class Creation:
    """The place where the code under test created a host tensor, the call of test code around it, and its arguments.

    `could_say` is whether the call has a `device` that the test has left out. `owner` is a weak reference to the object
    whose method is called, None where it is no method. `is_chosen`: it was created by a method of an object that takes
    a device when it is made, and does not move (a metric with `device="cpu"` accumulates on the host by choice), or a
    docstring says that it is on the host. `is_told`: the call, or the object, was told a GPU by its `device`. `follows`
    is the creation, in an earlier call, of a tensor whose device it was given; None where there is none.
    """

    token: Token
    path: str
    line: int
    function: str
    call: Call
    given: Given
    peer: Any  # a weak reference to one of the tensors on a GPU that the call was given, None where there is none
    could_say: bool = False
    owner: Any = None
    is_chosen: bool = False
    is_told: bool = False
    follows: Creation | None = None
