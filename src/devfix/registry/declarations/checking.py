"""Check what the types of a declaration cannot express: templates, metavariables, and what goes together."""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from devfix.registry.declarations.schema import Declaration, Edit, Family, Fix, Place, texts
from devfix.source.templates import VARIABLE, Template, TemplateError, variables

WORDS = ("name", "device", "peer", "op", "made_at", "failed_at")
NAMED = (Place.ARGUMENT, Place.USE)  # where names of the tensor are known
WRITES = ("edit", "replace", "insert_before", "insert_after", "set_argument", "remove_argument")


@dataclass(frozen=True)
class Fault:
    """A fault of a declaration, and the path of the value: `$.fix[0].replace`."""

    path: str
    what: str


def find_faults(declaration: Declaration) -> Iterator[Fault]:
    """Yield what is wrong with a declaration."""
    yield from _message(declaration)
    if declaration.family is Family.FAILURE and declaration.failure_kind is None:
        yield Fault("$.family", "a rule of the family `failure` needs `failure-kind`")
    if declaration.family is Family.CREATION and not (declaration.when.kinds or declaration.when.ops):
        yield Fault("$.family", "a rule of the family `creation` needs `kinds` or `ops` under [when]")
    for number, fix in enumerate(declaration.fix):
        path = f"$.fix[{number}]"
        yield from _places(path, fix, declaration.family)
        yield from _writes(path, fix)
        yield from _templates(path, fix)
        yield from _unbound(path, fix, declaration.family)


def _message(declaration: Declaration) -> Iterator[Fault]:
    try:
        names = {name for _, name, _, _ in string.Formatter().parse(declaration.message) if name is not None}
    except ValueError as error:
        yield Fault("$.message", f"`message`: {error}")
        return
    for name in sorted(names - set(WORDS)):
        yield Fault("$.message", f"`message` has {{{name}}}; known are {', '.join(f'{{{word}}}' for word in WORDS)}")


def places_of(fix: Fix, family: Family) -> tuple[Place, ...]:
    """Return where a fix edits: what it says, else where all rules of its family do."""
    given = (fix.at,) if isinstance(fix.at, Place) else fix.at
    usual = {Family.CREATION: (Place.CREATION,), Family.FAILURE: (Place.FAILURE,)}
    return given or usual.get(family, ())


def edits_of(fix: Fix) -> tuple[Edit, ...]:
    """Return the edits that a fix names."""
    return (fix.edit,) if isinstance(fix.edit, Edit) else fix.edit


def _places(path: str, fix: Fix, family: Family) -> Iterator[Fault]:
    places = places_of(fix, family)
    if not places:
        yield Fault(path, f"the key `at` is missing; known are {', '.join(each.value for each in Place)}")
    if family is Family.CREATION and places != (Place.CREATION,):
        yield Fault(
            f"{path}.at", "a rule of the family `creation` fixes at the creation; leave `family` out for others"
        )
    if Place.FILE in places and not (fix.match or fix.callee):
        yield Fault(f"{path}.at", "`file` needs `match` or `callee`, which say what to edit in it")
    if (fix.attribute or fix.assigned) and not set(places) <= set(NAMED):
        name = "attribute" if fix.attribute else "assigned"
        yield Fault(f"{path}.{name}", f"`{name}` goes with `argument` and `use` alone, where the tensor has a name")
    for edit in edits_of(fix):
        if edit is Edit.COPY_TO_HOST and places != (Place.FAILURE,):
            yield Fault(f"{path}.edit", "`copy-to-host` is done at the `failure`")
        elif edit not in (Edit.REMOVE_MOVE, Edit.COPY_TO_HOST) and Place.FILE in places:
            yield Fault(f"{path}.edit", f"`{edit.value}` needs a place in the tensor's history, not `file`")


def _writes(path: str, fix: Fix) -> Iterator[Fault]:
    given = [name for name in WRITES if getattr(fix, name)]
    if len(given) != 1:
        found = f"and has {', '.join(map(_key, given))}" if given else "and has none"
        yield Fault(path, f"a fix has one of {', '.join(map(_key, WRITES))}, {found}")
    if fix.position is not None and not fix.set_argument:
        yield Fault(f"{path}.position", "`position` goes with `set-argument`")
    if len(fix.set_argument) > 1 and (
        fix.position is not None or any("ARGUMENT" in variables(each) for each in fix.set_argument.values())
    ):
        name = "set-argument" if fix.position is None else "position"
        yield Fault(
            f"{path}.{name}", f"`{'$ARGUMENT' if fix.position is None else name}` is that of one argument alone"
        )
    if fix.title and fix.edit and fix.edit != Edit.REMOVE_MOVE:
        yield Fault(
            f"{path}.title", "this `edit` has a title of its own; `title` goes with what is written by templates"
        )
    if fix.imports and not (fix.replace or fix.insert_before or fix.insert_after):
        yield Fault(f"{path}.imports", "`imports` goes with `replace`, `insert-before` and `insert-after`")


def _templates(path: str, fix: Fix) -> Iterator[Fault]:
    written = {f"set-argument.{name}": text for name, text in fix.set_argument.items()}
    for name, text in {"match": fix.match, "replace": fix.replace, **written}.items():
        try:
            _ = Template(text).expression if text else None
        except TemplateError as error:
            yield Fault(f"{path}.{name}", f"`{name}`: {error}")
    for name in ("insert_before", "insert_after"):
        for line in texts(getattr(fix, name)):
            try:
                cst.parse_statement(VARIABLE.sub("name", line))
            except cst.ParserSyntaxError:
                yield Fault(f"{path}.{_key(name)}", f"`{_key(name)}`: is not a statement of Python: {line}")


def _unbound(path: str, fix: Fix, family: Family) -> Iterator[Fault]:
    known = variables(fix.match) | _given_names(fix, places_of(fix, family))
    written = {each for name, text in _texts_of(fix) if name not in ("title", "reason") for each in variables(text)}
    # What a title speaks of is written: there is one change for each device.
    told = (
        (known - {"DEVICE"})
        | (written & {"DEVICE"})
        | ({"RESULT"} if not (fix.insert_before or fix.insert_after) else set())
    )
    for name, text in _texts_of(fix):
        bound = told if name in ("title", "reason") else known
        for variable in sorted(variables(text) - bound):
            hint = f"`match` and this place bind {', '.join(f'${each}' for each in sorted(bound)) or 'none'}"
            yield Fault(f"{path}.{name}", f"`{name}`: the metavariable ${variable} is not bound; {hint}")


def _given_names(fix: Fix, places: tuple[Place, ...]) -> set[str]:
    """Return the metavariables that have a value without `match`."""
    given = set() if Place.FILE in places else {"DEVICE"}
    if fix.set_argument:
        given.add("ARGUMENT")
    return given if {Place.FILE, Place.FAILURE} & set(places) else given | {"TENSOR"}


def _texts_of(fix: Fix) -> Iterator[tuple[str, str]]:
    yield from (("replace", fix.replace), ("title", fix.title), ("reason", fix.reason))
    yield from ((f"set-argument.{name}", text) for name, text in fix.set_argument.items())
    for name in ("insert_before", "insert_after"):
        yield from ((_key(name), line) for line in texts(getattr(fix, name)))


def _key(name: str) -> str:
    return name.replace("_", "-")
