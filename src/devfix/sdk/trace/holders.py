"""Find the objects and classes that hold a tensor, and the files that a failure involves."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from devfix.model import Failure, Operand, SourceLocation
from devfix.source import File, Sources, last_name
from devfix.source.queries.reading import assignments, has_certainly_run


def owned_places(failure: Failure) -> Iterator[SourceLocation]:
    """Yield every owned location of a failure: its frames from the deepest, then creations, moves and scopes.

    >>> next(owned_places(failure)) == failure.at
    True
    """
    yield from (frame.place for frame in reversed(failure.owned_frames))
    for operand in failure.operands:
        for event in operand.history:
            yield from (place for place in event.places if place.owned)
    yield from (place for place, _ in failure.scopes if place.owned)


def files_of(failure: Failure, source: Sources) -> list[File]:
    """Return the editable files that a failure involves, those of the deepest frames first.

    >>> [file.path for file in files_of(failure, source)]
    ['main.py']
    """
    files = {place.path: source.file(place) for place in owned_places(failure)}
    return [file for file in files.values() if file is not None]


def classes_holding(
    failure: Failure, source: Sources, attribute: str, type_name: str = ""
) -> list[tuple[File, cst.ClassDef]]:
    """Return the classes in a failure's files that assign `self.attribute`: `type_name` and its bases first.

    >>> [node.name.value for _, node in classes_holding(failure, source, "scale")]
    ['Model']
    """
    files = files_of(failure, source)
    every = [(file, node) for file in files for node in file.classes]
    lineage = [type_name]
    for name in lineage:
        bases = [last_name(base.value) for _, node in every if node.name.value == name for base in node.bases]
        lineage += [each for each in bases if each not in lineage]
    holding = [(file, node) for file, node in every if assignments(file, f"self.{attribute}", node)]
    return sorted(holding, key=lambda pair: (*lineage, pair[1].name.value).index(pair[1].name.value))


def classes_called(file: File, name: str) -> list[cst.ClassDef]:
    """Return the classes of a file with a name, as `ScopeVariable.type` contains it.

    >>> [each.name.value for each in classes_called(source.file(failure.at), "Model")]
    ['Model']
    """
    return [node for node in file.classes if node.name.value == name]


def dominating(file: File, statements: list[cst.Assign | cst.AnnAssign]) -> list[cst.Assign | cst.AnnAssign]:
    """Return those of some ordered statements before which none of the others has certainly run.

    >>> file = File("m.py", b"if a:\\n    x = 1\\nelse:\\n    x = 2\\nx = 3\\nx = 4\\n")
    >>> [file.code(each) for each in dominating(file, assignments(file, "x"))]
    ['x = 1', 'x = 2', 'x = 3']
    """
    kept: list[cst.Assign | cst.AnnAssign] = []
    for each in statements:
        if not any(has_certainly_run(file, earlier, each) for earlier in kept):
            kept.append(each)
    return kept


def is_kept_copy(failure: Failure, operand: Operand) -> bool:
    """Return whether the operand is no parameter itself, and all its names are elements of dictionaries.

    It is a copy of a parameter that the program keeps, as in a state dict: a move of the module leaves it where it is.

    >>> is_kept_copy(failure, failure.operands[1])
    False
    """
    names = [(each.frame, each.expression) for each in operand.names if each.relation == "same"]
    types = {(at, one.expression): one.type for at, frame in enumerate(failure.frames) for one in frame.scope}
    return bool(names) and all(
        each[1].endswith(("']", '"]')) and not types.get(each, "").endswith("Parameter") for each in names
    )


def attribute_of(operand: Operand) -> str:
    """Return the attribute by which a module holds the operand, without an index ("edges" of `edges[0]`); else "".

    >>> operand = Operand("mask", "cpu", owner=ModuleOwner("self", 3, "Graph", "edges[0]", "attribute"))
    >>> attribute_of(operand)
    'edges'
    """
    return operand.owner.attribute.partition("[")[0] if operand.owner else ""
