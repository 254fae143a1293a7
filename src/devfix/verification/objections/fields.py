"""Find the values that an attribute has without an assignment: a class's field, filled by a generated constructor."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from devfix.verification.objections.code import (
    Code,
    Function,
    as_function,
    base_names,
    called_name,
    functions,
    module_of,
)

_GENERATING = frozenset({"dataclass", "define", "frozen", "mutable", "attrs", "s"})  # of dataclasses and attrs
_COPYING = frozenset({"replace", "_replace", "evolve"})
Definition = tuple[str, ast.ClassDef]  # the file, and the class


@dataclass(frozen=True)
class FieldValue:
    """A value that a field is given: where, and in which function."""

    path: str
    line: int
    value: ast.expr
    function: Function | None


def field_values(name: str, owner: str, code: Code, stem: str = "") -> Iterator[FieldValue]:
    """Yield what the field `name` of a class and of those that derive from it is given, by default or by a call.

    `stem` is the name of the module that defines the class; "" if it is not known.
    """
    family = code.family(owner)
    known, others = _choose_definitions(_classes(family | code.ancestors(owner), code), owner, stem)
    made = {each: order for each in family if name in (order := _order(each, known))}
    for each in sorted(family & known.keys()):
        path, declared = known[each]
        default = _class_value(declared, name) if each in made or each != owner else None
        if default is not None:
            yield FieldValue(path, default.lineno, _plain_default(default), None)
    if not made:
        return
    for path, tree in code.trees(*sorted({*made, *(f"{each}(" for each in _COPYING)})):
        called = _names(path, tree, made, known, others)
        for _, function, node in functions(tree):
            given = _field_argument(node, name, called) if isinstance(node, ast.Call) else None
            if given is not None:
                yield FieldValue(path, given.lineno, given, function or as_function(tree))


def _classes(names: frozenset[str], code: Code) -> Iterator[tuple[str, Definition]]:
    for path, tree in code.trees(*(f"class {each}" for each in names)):
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name in names:
                yield node.name, (path, node)


def _choose_definitions(
    found: Iterator[tuple[str, Definition]], owner: str, stem: str
) -> tuple[dict[str, Definition], dict[str, list[str]]]:
    """Return one definition of each class, beside the owner's where there are several, and the files of the others."""
    every: dict[str, list[Definition]] = {}
    for name, each in found:
        every.setdefault(name, []).append(each)
    home = next((path for path, _ in every.get(owner, ()) if module_of(path) == stem), "")
    chosen = {name: min(each, key=lambda one: one[0] != home) for name, each in every.items()}
    return chosen, {name: [one[0] for one in each if one is not chosen[name]] for name, each in every.items()}


def _names(
    path: str,
    tree: ast.Module,
    made: dict[str, list[str]],
    known: dict[str, Definition],
    others: dict[str, list[str]],
) -> dict[str, list[str]]:
    """Return what a file calls the classes, with their parameters, without another file's class of the same name."""
    called = {each: order for each, order in made.items() if path not in others[each]}
    for node in ast.walk(tree):
        for alias in node.names if isinstance(node, ast.ImportFrom) else ():
            module = (node.module or "").rpartition(".")[2] if isinstance(node, ast.ImportFrom) else ""
            stems = {module_of(each) for each in others.get(alias.name, ())}
            if alias.name in made and module in stems - {module_of(known[alias.name][0])}:
                called.pop(alias.asname or alias.name, None)
            elif alias.name in called and alias.asname:
                called[alias.asname] = made[alias.name]
    return called


def _order(name: str, known: dict[str, Definition], below: tuple[str, ...] = ()) -> list[str]:
    """Return the parameters of a class's generated constructor, those of its bases first; none if it is written.

    Classes are told by their last names: one `below` that derives from a library's class of the same name ends there.
    """
    if name not in known or name in below:
        return []
    _, node = known[name]
    if any(isinstance(each, ast.FunctionDef) and each.name == "__init__" for each in node.body):
        return []
    bases = base_names(node)
    inherited = [field for base in bases[::-1] for field in _order(base, known, (*below, name))]
    own = _own_fields(node) if _generates(node) or "NamedTuple" in bases else {}
    return list(dict.fromkeys([*inherited, *own]))


def _generates(node: ast.ClassDef) -> bool:
    decorators = [each.func if isinstance(each, ast.Call) else each for each in node.decorator_list]
    return any(ast.unparse(each).rpartition(".")[2] in _GENERATING for each in decorators)


def _own_fields(node: ast.ClassDef) -> dict[str, ast.expr | None]:
    """Return the fields that a class declares, each with its default, without those that no constructor takes."""
    return {
        each.target.id: each.value
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        if "ClassVar" not in ast.unparse(each.annotation) and "init=False" not in ast.unparse(each)
    }


def _class_value(node: ast.ClassDef, name: str) -> ast.expr | None:
    """Return the value that the body of a class gives to a name."""
    for each in node.body:
        if isinstance(each, ast.Assign | ast.AnnAssign):
            targets = each.targets if isinstance(each, ast.Assign) else [each.target]
            if name in [ast.unparse(target) for target in targets]:
                return each.value
    return None


def _plain_default(value: ast.expr) -> ast.expr:
    """Return the default within `field(default=…)`, or what a lambda of `default_factory` returns."""
    words = {each.arg: each.value for each in value.keywords} if isinstance(value, ast.Call) else {}
    made = words.get("default_factory", words.get("factory"))
    return words.get("default", made.body if isinstance(made, ast.Lambda) else value)


def _field_argument(call: ast.Call, name: str, made: dict[str, list[str]]) -> ast.expr | None:
    """Return what a call passes for a field: a constructor by word or position, a function that copies by word."""
    called = called_name(call)
    if called not in made and called not in _COPYING:
        return None
    word = next((each.value for each in call.keywords if each.arg == name), None)
    if word is not None or called not in made:
        return word
    at = made[called].index(name)
    plain = at < len(call.args) and not any(isinstance(each, ast.Starred) for each in call.args[: at + 1])
    return call.args[at] if plain else None
