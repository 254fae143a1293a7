"""Objections to what a module did not register before: modules, parameters, buffers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import partial

from devfix.model import Failure
from devfix.verification.evidence import Objection
from devfix.verification.objections.code import Code, Function, called_name, functions, instances, is_method
from devfix.verification.objections.host.results import is_result, names_in, returning, stays_on_host, taken_by_numpy
from devfix.verification.objections.introduced import Introduced
from devfix.verification.objections.members import registered_names


def of_modules(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield objections to new entries of the state dict and to newly trained parameters."""
    if what.kind not in ("modules", "parameter") and not (what.kind == "buffer" and what.is_persistent):
        return
    for path, tree in code.trees("load_state_dict", "torch.save", "state_dict("):
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr == "load_state_dict" and not _is_optimizer(node.func.value):
                strict = next((each.value for each in node.keywords if each.arg == "strict"), None)
                if not (isinstance(strict, ast.Constant) and strict.value is False):
                    problem = f"{path}:{node.lineno} loads a state dict strictly"
                    yield Objection(
                        "strong", f"{problem}: one saved earlier has no `{what.name}`, and cannot be loaded any more"
                    )
            elif node.func.attr == "state_dict" and not _is_optimizer(node.func.value):
                yield Objection(
                    "weak", f"{path}:{node.lineno} takes a state dict, in which `{what.name}` stands from now on"
                )
    if what.kind != "modules":
        return
    names = registered_names(what)
    for path, tree in code.trees(*names):
        for node in ast.walk(tree):
            if not isinstance(node, ast.With) or not any(_is_no_grad(item.context_expr) for item in node.items):
                continue
            uses = [each for each in ast.walk(node) if isinstance(each, ast.Attribute) and each.attr in names]
            if uses:
                problem = f"{path}:{uses[0].lineno} uses `{uses[0].attr}` without gradients"
                yield Objection(
                    "strong", f"{problem}: it may be kept out of the parameters on purpose, and would be trained"
                )


def of_registered_on_host(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield code that passes to NumPy what moves with its module from now on, or what a method computes of it.

    Not the constructor's, which runs before the move, nor that of files which construct the module and never move it.
    A function that was passed the module by such a file reads it as well.
    """
    if what.kind not in ("buffer", "parameter") or not what.owner:
        return
    family = code.family(what.owner)
    for name, is_property in ((what.name, True), *returning(what, {what.name}, code)):
        for path, tree in code.trees(f".{name}"):
            if stays_on_host(tree, family):
                continue
            known = names_in(tree) | {each.name for each in tree.body if isinstance(each, ast.ClassDef)}
            for owner, around, node in functions(tree):
                if around is not None and around.name == "__init__":
                    continue
                is_it = partial(is_result, name=name, is_property=is_property, around=around or tree)
                own = taken_by_numpy(node)
                given = [own] if own is not None and is_it(own) else []
                for taken in (*given, *_handed_on(node, is_it, code)):
                    is_own = owner in family if ast.unparse(taken).startswith("self.") else bool(known & family)
                    if is_own or _is_handed(taken, around, family, code):
                        problem = f"{path}:{taken.lineno} passes `{ast.unparse(taken)}` to NumPy as it is"
                        moves = f"and not `{what.name}`, which moves with its module from now on"
                        yield Objection("strong", f"{problem}, which takes host memory alone, {moves}")


def _is_handed(taken: ast.expr, around: Function | None, family: frozenset[str], code: Code) -> bool:
    """Return whether a file passes an object of the classes for the parameter that a function reads: `draw(net)`."""
    places = [each.arg for each in around.args.args[1 if is_method(around) else 0 :]] if around is not None else []
    name = ast.unparse(taken).partition(".")[0]
    if around is None or name not in places:
        return False
    for _, tree in code.trees(f"{around.name}("):
        made = instances(tree, family) if not stays_on_host(tree, family) else frozenset[str]()
        for node in ast.walk(tree) if made else ():
            if isinstance(node, ast.Call) and called_name(node) == around.name:
                given = [*zip(places, node.args, strict=False), *((each.arg, each.value) for each in node.keywords)]
                if any(place == name and ast.unparse(value) in made for place, value in given):
                    return True
    return False


def _handed_on(node: ast.AST, is_it: Callable[[ast.expr], bool], code: Code) -> Iterator[ast.expr]:
    """Yield the arguments of a call, of those in question, that a function here passes to NumPy as they are."""
    if not isinstance(node, ast.Call) or not (name := called_name(node)):
        return
    kinds = ast.Attribute | ast.Name | ast.Call | ast.Subscript
    given = [each for each in node.args if isinstance(each, kinds) and is_it(each)]
    for _, tree in code.trees(f"def {name}(") if given else ():
        for _, _, function in functions(tree):
            if isinstance(function, Function) and function.name == name:
                found = map(taken_by_numpy, ast.walk(function))
                taken = {each.id for each in found if isinstance(each, ast.Name)}
                places = function.args.args[1 if is_method(function) else 0 :]
                passed = zip(node.args, places, strict=False)
                yield from (value for value, place in passed if value in given and place.arg in taken)


def _is_optimizer(node: ast.expr) -> bool:
    text = ast.unparse(node).lower()
    return any(word in text for word in ("optim", "sched", "scaler", "opt"))


def _is_no_grad(node: ast.expr) -> bool:
    return any(word in ast.unparse(node) for word in ("no_grad", "inference_mode"))
