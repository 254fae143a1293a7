"""Objections to moving what a docstring or a comment says to be in host memory."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from devfix.model import Failure
from devfix.verification.evidence import Objection
from devfix.verification.objections.code import Code, Function, functions
from devfix.verification.objections.host.kept_on_purpose import MOVES, moved_attribute
from devfix.verification.objections.host.results import receivers
from devfix.verification.objections.introduced import Introduced, class_of

_CONDITION = r"if|when|where|while|unless|whether"
_MOTION = r"then|first|before|until|from|mov\w*|cop(?:y|ie)\w*|pin\w*|load\w*|transfer\w*"
_MADE = r"(creat|allocat|initiali[sz]|construct|prepar|mov|copi|load|pinn|transferr|plac|stor)ed\b"
# How a docstring says that something is meant to stay in host memory.
_STAYS = re.compile(
    r"\b(stays?|kept|keeps?|lives?|remains?|held|holds)\b[^.;]{0,60}?"
    r"\b(on the (host|CPU)|in (host|CPU|main) memory|in RAM)\b"
    r"|\b(too (large|big) for|(larger|bigger) than|(do(es)? not|doesn't|cannot) fit (on|in|into))"
    r" ((a |the |one |(the )?memory of (a|the|one) )?GPU|its memory)\b"
    rf"|^((?!\b({_CONDITION})\b)[^.;:])*?"
    r"\b((is|are) (always |all )?on the (host|CPU)(?=:|,? (so that|because|since|as)\b)"
    r"|so (that )?[^.;:]{1,40} (is|are) on the (host|CPU)\b"
    rf"|(is|are) (?!{_MADE})(\w+ed|drawn|read|written)\b"
    r"(?![^.;:]*\b(then|first|before|until)\b)[^.;:]*? (on the (host|CPU)|in RAM)\.?$"
    r"|(on the (host|CPU)|in RAM)(?=,? (so that|because|to (save|spare|free|leave room))\b))"
    rf"|^((?!\b({_CONDITION}|{_MOTION})\b)[^.;:])*?\bin (host|main|CPU) memory\b"
    rf"(?![^.;:]*\b({_CONDITION}|{_MOTION})\b)"
    r"|\bGPU has no room\b",
    re.IGNORECASE,
)
# How a comment beside an assignment says it, which need not be a sentence.
_STAYS_HERE = re.compile(
    r"#.*?\b((on|in|for)( the)? (host|CPU)\b|(host|CPU)[- ](only|side)\b"
    r"|(sav|spar|free)\w*\b[^.;]*\bGPU('s)? memory\b|GPU (is full|has no room)\b)",
    re.IGNORECASE,
)
_DOUBT = re.compile(r"\b(TODO|FIXME|XXX|HACK|bug|should|moved?|cop(y|ied))\b", re.IGNORECASE)
_PLACED = frozenset(("call", each) for each in MOVES)
_REFERS = re.compile(r"(it|its|they|their|these|those|this|that)\b", re.IGNORECASE)  # to what the sentence before names
_SENTENCES = re.compile(r"(?<=[.;:]) ")


def of_documented_places(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield the sentence by which the class says that it stays on the host, of an attribute that is now on a GPU."""
    owner, name = _attribute(what, failure)
    if not name or not (owner or what.kind == "dropped"):
        yield from _of_comments(what, code)
        return
    for path, each in _docstring_holders(what, owner, code):
        before = ""
        for sentence in _SENTENCES.split(" ".join((ast.get_docstring(each) or "").split())):
            said, before = _STAYS.search(sentence), f"{before} {sentence}" if _REFERS.match(sentence) else sentence
            if said is not None and not _is_of_another(before, name, each):
                problem = f'{path}:{each.lineno}: `{each.name}` says "{said[0]}"'
                yield Objection("strong", f"{problem}, and `{name}` would be on a GPU")
                break
    yield from _of_comments(what, code, name)


def _of_comments(what: Introduced, code: Code, name: str = "") -> Iterator[Objection]:
    """Yield what a comment beside the edit, or above it, says of what is made there."""
    name = name or _made_name(what, code)
    lines, line = code.lines(what.path), getattr(what.node, "lineno", 0) if name else 0
    above = [each.strip() for each in lines[max(line - 2, 0) : line - 1] if each.strip().startswith("#")]
    for comment in [*lines[line - 1 : line], *above] if line else ():
        if (said := _STAYS_HERE.search(comment)) and not _DOUBT.search(said.string[said.start() :]):
            problem = f'{what.path}:{line}: a comment says "{said[1]}"'
            yield Objection("strong", f"{problem}, and `{name}` would be on a GPU")


def _made_name(what: Introduced, code: Code) -> str:
    """Return the name of what a statement makes and now places: `net` of `net = Net().to(device)`; "" for others."""
    call = what.node
    if not isinstance(call, ast.Call) or not (what.kind == "device" or (what.kind, what.name) in _PLACED):
        return ""
    held = call.func.value if what.kind == "call" and isinstance(call.func, ast.Attribute) else call
    place = call.lineno, call.end_lineno, call.end_col_offset
    for each in (
        ast.walk(what.function or code.tree(what.path) or ast.Module([], [])) if isinstance(held, ast.Call) else ()
    ):
        if isinstance(each, ast.Assign) and isinstance(each.targets[0], ast.Name):
            made = [inner for inner in receivers(each.value) if isinstance(inner, ast.Call)]
            if place in [(inner.lineno, inner.end_lineno, inner.end_col_offset) for inner in made]:
                return each.targets[0].id
    return ""


def of_documented_results(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield the sentence by which the function that made a tensor says that it stays on the host, where it is moved."""
    if what.kind != "call" or what.name not in MOVES:
        return
    moved = (each for each in failure.operands if what.root in (name.expression for name in each.names))
    places = {(place.path, place.line) for each in moved for event in each.history for place in event.places[:1]}
    for path, line in sorted(places):
        tree = code.committed_tree(path)
        for each in ast.walk(tree) if tree is not None else ():
            if not isinstance(each, Function) or not each.lineno <= line <= (each.end_lineno or 0):
                continue
            said = _STAYS.search(" ".join((ast.get_docstring(each) or "").split()))
            if said is not None:
                problem = f'{path}:{each.lineno}: `{each.name}` says "{said[0]}"'
                yield Objection("strong", f"{problem}, and `{what.root}`, which it made, would be on a GPU")


def _attribute(what: Introduced, failure: Failure) -> tuple[str, str]:
    """Return the class and the attribute that is now moved, also from outside: `stats.counts = stats.counts.to(…)`.

    Of what is no longer brought to the host it is the attribute to which that is added: `self.kept.append(x.cpu())`.
    """
    if what.kind == "dropped":
        return what.owner, _holder_of(what) or what.root
    if name := moved_attribute(what) or _entry(what):
        return what.owner, name
    holder, _, name = what.root.rpartition(".")
    if what.kind != "call" or what.name not in MOVES or not holder.isidentifier() or not name.isidentifier():
        return "", ""
    return class_of(holder, what, failure)[0], name


def _holder_of(what: Introduced) -> str:
    """Return the attribute of `self` that the statement of a node assigns, or whose method it calls; "" for none."""
    for each in ast.walk(what.function) if what.function is not None else ():
        if isinstance(each, ast.Assign | ast.Expr) and any(inner is what.node for inner in ast.walk(each)):
            inside = each.targets if isinstance(each, ast.Assign) else [each.value]
            found = (own for one in inside for own in ast.walk(one) if isinstance(own, ast.Attribute))
            return next((own.attr for own in found if ast.unparse(own.value) == "self"), "")
    return ""


def _entry(what: Introduced) -> str:
    """Return the key of a dictionary to which a method assigns what is now made on a device; "" if it is another case.

    An optimizer keeps its averages so: `state["mean"] = torch.zeros(…)`.
    """
    for each in ast.walk(what.function) if what.kind == "device" and what.function is not None else ():
        if isinstance(each, ast.Assign) and any(inner is what.node for inner in ast.walk(each.value)):
            keys = (target.slice for target in each.targets if isinstance(target, ast.Subscript))
            return next((key.value for key in keys if isinstance(key, ast.Constant) and isinstance(key.value, str)), "")
    return ""


def _docstring_holders(what: Introduced, owner: str, code: Code) -> Iterator[tuple[str, ast.ClassDef | Function]]:
    """Yield the class of the attribute, and the function that is edited."""
    for path, tree in code.trees(f"class {owner}"):
        yield from ((path, each) for each in ast.walk(tree) if isinstance(each, ast.ClassDef) and each.name == owner)
    if what.function is not None:
        yield what.path, what.function


def _is_of_another(sentence: str, name: str, owner: ast.AST) -> bool:
    """Return whether a sentence names other attributes of a class, and not this one."""
    stored = {
        node.attr
        for _, _, node in functions(owner)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self"
    }
    words = set(re.findall(r"\w+", sentence))
    parts = {each for each in name.lower().split("_") if len(each) > 3}
    return name not in words and bool(stored & words) and parts.isdisjoint(each.lower() for each in words)
