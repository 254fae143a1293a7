"""Tensors that a loop hands out: each turn has one of its own, so nothing before the loop is to be mended for it."""

from __future__ import annotations

import libcst as cst

from devfix.model import Diagnosis
from devfix.sdk.evidence import blamed, names_in
from devfix.sdk.loops import bound
from devfix.source import File, Sources


def turn_frame(diagnosis: Diagnosis, source: Sources) -> int | None:
    """The number of the outermost frame in which the blamed operand is what a `for` around the running line binds.

    >>> turn_frame(diagnosis, source) is None
    True
    """
    failure, operand = diagnosis.failure, blamed(diagnosis)
    for number, frame in enumerate(failure.frames):
        for held in names_in(operand, number):
            file = source.file(frame.place)
            node = file.root_at(frame.place) if file is not None else None
            if file is not None and node is not None and is_turned(file, node, held.expression):
                return number
    return None


def is_turned(file: File, node: cst.CSTNode, name: str) -> bool:
    """Whether a `for` around a node binds a name, and nothing else in the loop binds it anew.

    >>> file = File("m.py", b"for x, y in pairs:\\n    y = y + 1\\n    f(x, y)\\n")
    >>> call = file.find(file.module, "f(x, y)")[0]
    >>> is_turned(file, call, "x"), is_turned(file, call, "y")
    (True, False)
    """
    for loop in file.loops_around(node):
        names = file.within(loop.target) if isinstance(loop, cst.For) else ()
        if any(isinstance(each, cst.Name) and each.value == name for each in names):
            return name not in bound(file, loop.body)
    return False
