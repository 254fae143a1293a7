"""Objections to moving what a docstring or a comment says to be in host memory."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from devfix.model import Failure
from devfix.verification.evidence import Objection
from devfix.verification.objections.code import Code, Function, functions
from devfix.verification.objections.host.kept_on_purpose import MOVES, moved_attribute
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
    r"\b((is|are) (always |all )?on the (host|CPU)(?=,? (so that|because|since|as)\b)"
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
_STAYS_HERE = re.compile(r"#.*\b((on|in)( the)? (host|CPU)\b|(host|CPU)[- ](only|side)\b)", re.IGNORECASE)
_DOUBT = re.compile(r"\b(TODO|FIXME|XXX|HACK|bug|should|moved?|cop(y|ied))\b", re.IGNORECASE)
_REFERS = re.compile(r"(it|its|they|their|these|those|this|that)\b", re.IGNORECASE)  # to what the sentence before names
_SENTENCES = re.compile(r"(?<=[.;:]) ")


def of_documented_places(what: Introduced, failure: Failure, code: Code) -> Iterator[Objection]:
    """Yield the sentence by which the class says that it stays on the host, of an attribute that is now on a GPU."""
    owner, name = _attribute(what, failure)
    if not name or not owner:
        return
    for path, each in _docstring_holders(what, owner, code):
        before = ""
        for sentence in _SENTENCES.split(" ".join((ast.get_docstring(each) or "").split())):
            said, before = _STAYS.search(sentence), f"{before} {sentence}" if _REFERS.match(sentence) else sentence
            if said is not None and not _is_of_another(before, name, each):
                problem = f'{path}:{each.lineno}: `{each.name}` says "{said[0]}"'
                yield Objection("strong", f"{problem}, and `{name}` would be on a GPU")
                break
    lines, line = code.lines(what.path), getattr(what.node, "lineno", 0)
    above = [each.strip() for each in lines[max(line - 2, 0) : line - 1] if each.strip().startswith("#")]
    for comment in [*lines[line - 1 : line], *above] if line else ():
        if (said := _STAYS_HERE.search(comment)) and not _DOUBT.search(said.string[said.start() :]):
            problem = f'{what.path}:{line}: a comment says "{said[1]}"'
            yield Objection("strong", f"{problem}, and `{name}` would be on a GPU")


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
    """Return the class and the attribute that is now moved, also from outside: `stats.counts = stats.counts.to(…)`."""
    if name := moved_attribute(what) or _entry(what):
        return what.owner, name
    holder, _, name = what.root.rpartition(".")
    if what.kind != "call" or what.name not in MOVES or not holder.isidentifier() or not name.isidentifier():
        return "", ""
    return class_of(holder, what, failure)[0], name


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
    return name not in words and bool(stored & words)
