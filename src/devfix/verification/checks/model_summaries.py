"""Recognize printed model summaries, which change if a patch registers a module."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from difflib import SequenceMatcher

from devfix.model import Edit

_REGISTERED = re.compile(r"\bself\.(\w+)\s*(?::[^=\n]+)?=\s*(?:\w+\.)*(?:Module|Parameter)(?:List|Dict)\(")
_NUMBER = re.compile(r"\d[\d.,]*(?: ?[KMGB]\b)?")
_OF_MODELS = re.compile(r"\b(modules?|layers?|param(eter)?s?|flops|size)\b", re.IGNORECASE)
_OF_REPR = re.compile(r"\s*(\(\S+\): .*|\))$")


def registered_attributes(edits: Iterable[Edit]) -> frozenset[str]:
    """Return the attributes that edits turn into containers that register the modules or parameters in them."""
    return frozenset(registering_lines(edits))


def registering_lines(edits: Iterable[Edit]) -> dict[str, str]:
    """Return the attributes that edits turn into such containers, each with the line that assigns it."""
    found: dict[str, str] = {}
    for edit in edits:
        before, after = (text.decode("utf-8", "replace") for text in (edit.before, edit.after))
        known = set(_REGISTERED.findall(before))
        made = (each for each in _REGISTERED.finditer(after) if each[1] not in known)
        found |= {each[1]: each[0] + after[each.end() :].partition("\n")[0] for each in made}
    return found


def differs_by_children(before: str, after: str, names: Collection[str]) -> bool:
    """Return whether outputs differ only as summaries of a model do that got children of these names.

    Such summaries have new lines, other column widths, and other counts of modules and parameters.

    >>> table = "| layers | Linear | 8 |\\n| 1 modules |"
    >>> differs_by_children(table, "| layers  | Linear | 8 |\\n| metrics | List | 0 |\\n| 2 modules |", ["metrics"])
    True
    >>> differs_by_children("loss 0.1", "loss 0.2", ["metrics"])
    False
    """
    if not names:
        return False
    old, new = _lines(before), _lines(after)
    matcher = SequenceMatcher(None, [words for words, _ in old], [words for words, _ in new], autojunk=False)
    for kind, start, end, begin, stop in matcher.get_opcodes():
        if kind == "equal":
            continue
        added = [words for words, line in new[begin:stop] if not _is_child(words, line, names)]
        removed = [words for words, _ in old[start:end]]
        if len(added) != len(removed) or not all(map(_counts, removed, added)):
            return False
    return True


def _lines(output: str) -> list[tuple[str, str]]:
    """Return the words of each line that has some, with the line."""
    pairs = [(" ".join(re.findall(r"[\w.,:()-]+", line)), line) for line in output.splitlines()]
    return [(words, line) for words, line in pairs if re.search(r"\w|^\s*\)$", line)]


def _is_child(words: str, line: str, names: Collection[str]) -> bool:
    return any(re.search(rf"\b{re.escape(name)}\b", words) for name in names) or bool(_OF_REPR.match(line))


def _counts(old: str, new: str) -> bool:
    """Return whether two lines count parts of a model and differ only in their numbers."""
    return bool(_OF_MODELS.search(old)) and _NUMBER.sub("", old) == _NUMBER.sub("", new)
