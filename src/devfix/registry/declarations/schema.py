"""The types of the TOML file of a rule. The names are those of the SDK: class variables, kinds of sites, edits."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Annotated

from msgspec import Meta, Struct

from devfix.model import Confidence, Safety
from devfix.model.failure import FailureKind
from devfix.model.patch import ConfidenceName
from devfix.model.tensors import EventKind

Text = Annotated[str, Meta(min_length=1)]
Texts = Text | tuple[Text, ...]
Option = bool | int | float | str | tuple[str, ...]
Id = Annotated[str, Meta(pattern=r"^[^/\s]+/[^/\s]+$")]


class Family(str, Enum):
    """The class of the SDK that a rule derives from."""

    OPERAND = "operand"
    CREATION = "creation"
    FAILURE = "failure"


class Place(str, Enum):
    """The place of a fix: a site in the operand's history, the call that failed, or any file that is involved."""

    CREATION = "creation"
    RETURNED = "returned"
    DERIVED = "derived"
    ARGUMENT = "argument"
    USE = "use"
    FAILURE = "failure"
    FILE = "file"


class Edit(str, Enum):
    """An edit of the SDK that needs nothing but a site."""

    ADD_DEVICE = "add-device"
    MOVE_RESULT = "move-result"
    MOVE_ARGUMENT = "move-argument"
    MOVE_ASSIGNED = "move-assigned"
    MOVE_BATCH = "move-batch"
    MOVE_CONTAINER = "move-container"
    MOVE_LIST = "move-list"
    REMOVE_MOVE = "remove-move"
    COPY_TO_HOST = "copy-to-host"


class When(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """Conditions on the operand in view.

    `kinds` and `ops` are those of its creation by owned code, `argument` the failing operator's name for it, `device` a
    prefix of its device. `moved`: it has transfers; `in_module`: a module holds it; `in_reach`: what created it still
    runs, or had something on the right device in scope; `indexed_beside`: the failing operator writes into parts of it
    by an index that is where it is.
    """

    kinds: EventKind | tuple[EventKind, ...] = ()
    ops: Texts = ()
    argument: Texts = ()
    device: str = ""
    moved: bool | None = None
    in_module: bool | None = None
    in_reach: bool | None = None
    indexed_beside: bool | None = None


class Fix(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """An edit and its place: exactly one of `edit`, `replace`, `insert_…`, `set_argument` and `remove_argument`.

    `callee`, `callee_class`, `decorator`, `attribute` and `assigned` restrict the places; `match` is a template of the
    expression there, whose metavariables can be used in what is written. `otherwise`: only if no fix before it changes
    anything.
    """

    at: Place | tuple[Place, ...] = ()
    callee: Texts = ()
    callee_class: Texts = ()
    decorator: Texts = ()
    attribute: Texts = ()
    assigned: bool = False
    match: str = ""
    edit: Edit | tuple[Edit, ...] = ()
    replace: str = ""
    insert_before: Texts = ()
    insert_after: Texts = ()
    set_argument: Mapping[Text, Text] = {}
    remove_argument: str = ""
    position: Annotated[int, Meta(ge=0)] | None = None
    imports: Texts = ()
    title: str = ""
    reason: str = ""
    safety: Safety | None = None
    otherwise: bool = False


class Declaration(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """A rule. What is not `when`, `fix` and `options` are the class variables of its family; see `devfix.sdk`."""

    title: Text
    message: Text
    fix: Annotated[tuple[Fix, ...], Meta(min_length=1)]
    family: Family = Family.OPERAND
    failure_kind: FailureKind | None = None
    needs_object: Texts = ()
    confidence: ConfidenceName = "direct"
    confidence_far: ConfidenceName | None = None
    supersedes: tuple[Id, ...] = ()
    reports_intentional: bool = False
    reports_held: bool = False
    device: str = ""
    when: When = When()
    options: Mapping[str, Option] = {}


def texts(value: Texts) -> tuple[str, ...]:
    """Return one text or several as several."""
    return (value,) if isinstance(value, str) else value


def rating(name: ConfidenceName) -> Confidence:
    """Return the confidence of a name."""
    return Confidence[name.upper()]
