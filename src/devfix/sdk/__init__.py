"""All that a rule may import: the only door between the tower and the garden."""

from devfix.model import Binding, Blame, Diagnosis, Edit, Event, Failure, Frame, Held, Operand, Owner, Place
from devfix.sdk.anchors import anchors, is_bound
from devfix.sdk.changes import Change, change
from devfix.sdk.edits import argument, expression, inserted_after, inserted_before, keyword_added, moved
from devfix.sdk.evidence import (
    birthplace,
    blamed,
    describe,
    names_in,
    peer,
    strangers,
    target_device,
    was_moved_to,
)
from devfix.sdk.moves import FACTORIES, argument_moved, factory_given_device, occurrences, result_moved
from devfix.sdk.spots import Spot, scope_at, spots
from devfix.source import File, Sources, last_name

__all__ = [
    "FACTORIES",
    "Binding",
    "Blame",
    "Change",
    "Diagnosis",
    "Edit",
    "Event",
    "Failure",
    "File",
    "Frame",
    "Held",
    "Operand",
    "Owner",
    "Place",
    "Sources",
    "Spot",
    "anchors",
    "argument",
    "argument_moved",
    "birthplace",
    "blamed",
    "change",
    "describe",
    "expression",
    "factory_given_device",
    "inserted_after",
    "inserted_before",
    "is_bound",
    "keyword_added",
    "last_name",
    "moved",
    "names_in",
    "occurrences",
    "peer",
    "result_moved",
    "scope_at",
    "spots",
    "strangers",
    "target_device",
    "was_moved_to",
]
