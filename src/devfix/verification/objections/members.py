"""Objections to modules that a module registers, from code that goes over its parameters, children or modules.

Such code now reaches them too: an optimizer gets their parameters twice, `apply` initializes what was trained before,
`train` gives them back the dropout that `eval` took.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from devfix.model import Failure
from devfix.verification.evidence import Objection, Strength
from devfix.verification.objections.buffers import MODULE_NAMES
from devfix.verification.objections.code import Code, called_name, functions, instances
from devfix.verification.objections.introduced import Introduced
from devfix.verification.objections.value_kinds import Function, defaults

_PARAMETERS = frozenset({"parameters", "named_parameters"})
_CONTAINERS = ("ParameterDict", "ParameterList", "ModuleDict", "ModuleList")
_WHOLE = frozenset({"children", "named_children", "apply", "_modules"})


def of_members(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield code that goes over all that a module registers, and handles some of it apart."""
    if what.kind != "modules" or not what.owner:
        return
    family, names = code.family(what.owner), registered_names(what)
    yield from _parameters_apart(names, family, code)
    yield from _whole(what.name, family, code)
    yield from _kept_in_eval(what, names, code)


def registered_names(what: Introduced) -> frozenset[str]:
    """Return the attributes that have the modules: the registered one, and the container beside which it was made."""
    made = what.node.value if isinstance(what.node, ast.Assign | ast.AnnAssign) else None
    read = ast.walk(made) if made is not None else ()
    held = {each.attr for each in read if isinstance(each, ast.Attribute) and ast.unparse(each.value) == "self"}
    return frozenset({what.name, *held})


def _parameters_apart(names: frozenset[str], family: frozenset[str], code: Code) -> Iterator[Objection]:
    """Yield code that takes the parameters of the modules beside those of the module that now has them."""
    for path, tree in code.trees(*(f".{name}" for name in names)):
        known = instances(tree, family)
        asked = [
            (owner, each)
            for owner, _, each in functions(tree)
            if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute) and each.func.attr in _PARAMETERS
        ]
        has_all = any(_is_module(each.func.value, owner, known, family) for owner, each in asked)  # type: ignore[attr-defined]
        for node in ast.walk(tree):
            if not isinstance(node, ast.For | ast.Assign | ast.AugAssign | ast.Expr | ast.Return):
                continue
            uses = [each for each in ast.walk(node) if isinstance(each, ast.Attribute) and each.attr in names]
            taken = [call for _, call in asked if any(call is each for each in ast.walk(node))]
            apart = [each for each in taken if not _is_module(each.func.value, "", known, frozenset())]  # type: ignore[attr-defined]
            if uses and apart:
                problem = f"{path}:{uses[0].lineno} takes the parameters of `{ast.unparse(uses[0])}` apart"
                strength: Strength = "strong" if has_all else "weak"
                yield Objection(strength, f"{problem}, which the module's own parameters now contain as well")
                break


def _is_module(value: ast.expr, owner: str, known: frozenset[str], family: frozenset[str]) -> bool:
    """Return whether an expression in a class is a module of some classes, or is called like one."""
    text = ast.unparse(value)
    if text == "self" or text.startswith("super("):
        return owner in family
    made = called_name(value)
    return text in known or made in family or text in MODULE_NAMES


def _whole(name: str, family: frozenset[str], code: Code) -> Iterator[Objection]:
    """Yield code that takes a module apart by its children, or applies a function to all modules."""
    for path, tree in code.trees(*(f".{each}" for each in _WHOLE)):
        known = instances(tree, family)
        for owner, function, node in functions(tree):
            if not isinstance(node, ast.Attribute) or node.attr not in _WHOLE:
                continue
            is_own = ast.unparse(node.value) == "self" and function is not None and function.name == "__init__"
            if not is_own and _is_module(node.value, owner, known, family):
                problem = f"{path}:{node.lineno}: `{ast.unparse(node)}` reaches all modules"
                yield Objection("strong", f"{problem}, now with those of `{name}`")


def _kept_in_eval(what: Introduced, names: frozenset[str], code: Code) -> Iterator[Objection]:
    """Yield modules that are put into evaluation mode where they are stored, and would be put into training mode."""
    if not isinstance(what.node, ast.Assign | ast.AnnAssign) or what.node.value is None:
        return
    stored = {ast.unparse(each) for each in ast.walk(what.node.value) if isinstance(each, ast.Name)}
    nodes = list(ast.walk(what.function)) if what.function is not None else [what.node]
    gone_over = stored | {f"self.{name}" for name in names}
    turned = any(
        (isinstance(node, ast.For) and ast.unparse(node.iter) in gone_over and _calls_eval(node))
        or (isinstance(node, ast.Assign | ast.AnnAssign) and _stores(node, gone_over) and _calls_eval(node))
        for node in nodes
    )
    for path, tree in code.trees(".train(") if turned else ():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "train":
                problem = f"{path}:{node.lineno}: `{ast.unparse(node)}` puts all modules into training mode"
                yield Objection("strong", f"{problem}, now with those of `{what.name}`, which are in evaluation mode")
                return


def _stores(node: ast.Assign | ast.AnnAssign, names: set[str]) -> bool:
    return not names.isdisjoint(map(ast.unparse, node.targets if isinstance(node, ast.Assign) else [node.target]))


def _calls_eval(node: ast.AST) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr == "eval" for each in ast.walk(node))


def registers(owner: str, target: str, code: Code) -> bool:
    """Return whether a module registers a part of it at a target: an attribute, or an item of one of its containers."""
    holder, bracket, _ = target.partition("[")
    made = (
        called_name(node.value)
        for _, tree in code.trees(f"{holder} = ")
        for around, _, node in functions(tree)
        if around == owner and isinstance(node, ast.Assign) and holder in map(ast.unparse, node.targets)
    )
    return holder.startswith("self.") and (not bracket or any(each in _CONTAINERS for each in made))


def registers_buffer(owner: str, target: str, code: Code) -> bool:
    """Return whether a class registers an attribute as a buffer, which a move of its module takes along."""
    holder, _, name = target.rpartition(".")
    family = code.family(owner) | code.ancestors(owner) if holder == "self" else frozenset()
    return any(
        around in family and called_name(node) == "register_buffer" and f"'{name}'" in map(ast.unparse, node.args[:1])
        for _, tree in code.trees("register_buffer")
        for around, _, node in functions(tree)
        if isinstance(node, ast.Call)
    )


def is_given_or_none(attribute: str, owner: str, tree: ast.Module) -> bool:
    """Return whether an attribute is what the constructor of a class is given, which is None by default."""
    for holder, _, node in functions(tree):
        if holder == owner and isinstance(node, Function) and node.name == "__init__":
            absent = {name for name, value in defaults(node).items() if ast.unparse(value) == "None"}
            assigned = (each for each in ast.walk(node) if isinstance(each, ast.Assign))
            values = [each.value for each in assigned if attribute in map(ast.unparse, each.targets)]
            return bool(values) and all(ast.unparse(each) in absent for each in values)
    return False
