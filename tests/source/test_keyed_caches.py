"""What a function keeps in a dictionary by a key, and the dictionaries whose keys must stay as they are."""

from __future__ import annotations

import textwrap

import pytest

from devfix.source import File
from devfix.source.queries.keyed_caches import keyed_caches
from devfix.source.queries.reading import definition

KNOWN, STORE = "known = {}\n", "    known[n] = make(n)\n"
TABLE = "    if n not in known:\n        known[n] = make(n)\n    return known[n]\n"


def caches(text: str, name: str = "table") -> list[tuple[str, str, int, str]]:
    file = File("m.py", textwrap.dedent(text).encode())
    found = keyed_caches(file, definition(file, name))
    return [(each.holder, each.key, len(each.keys), file.code(each.value)) for each in found]


@pytest.mark.parametrize(
    ("body", "keys", "value"),
    [
        (TABLE, 3, "make(n)"),
        (
            "    if n in known:\n        return known[n]\n    made = make(n)\n    known[n] = made\n    return made\n",
            3,
            "make(n)",
        ),
        (
            "    got = known.get(n)\n    if got is None:\n        got = known[n] = make(n)\n    return got\n",
            2,
            "make(n)",
        ),
        ("    if (got := known.get(n)) is None:\n        got = known[n] = make(n)\n    return got\n", 2, "make(n)"),
        (f"    try:\n        return known[n]\n    except KeyError:\n    {STORE}    return known[n]\n", 3, "make(n)"),
        ("    return known.setdefault(n, make(n))\n", 1, "make(n)"),
        ("    if len(known) > 9:\n        known.clear()\n" + TABLE, 3, "make(n)"),
    ],
)
def test_idioms_of_a_cache(body: str, keys: int, value: str) -> None:
    assert caches(f"{KNOWN}def table(n):\n{body}") == [("known", "n", keys, value)]


@pytest.mark.parametrize(
    "text",
    [
        f"{KNOWN}def table(n):\n{TABLE}\ndef other():\n    return known[3]\n",  # which knows no device
        f"{KNOWN}def table(n):\n{TABLE}\ndef other():\n    return list(known.items())\n",
        f"def table(n):\n    known = {{}}\n{TABLE}",  # gone after the call
        f"def table(n, known):\n{TABLE}",  # of a caller
        f"known = nn.ModuleDict()\ndef table(n):\n{TABLE}",
        f"{KNOWN}def table(n):\n    if n not in known:\n    {STORE}    known[n] += 1\n    return known[n]\n",
        f"{KNOWN}def table(n):\n    total = known.setdefault(n, make(n))\n    total += 1\n",
        f"{KNOWN}def table(n):\n    known[n] = make(n)\n    return known[n]\n",  # made in each call
        f"{KNOWN}def table(n):\n    if n not in known:\n    {STORE}    return known[n + 1]\n",
    ],
)
def test_what_is_no_cache_by_a_key(text: str) -> None:
    assert caches(text) == []


def test_a_dictionary_of_an_object_or_a_class() -> None:
    own = "class Net:\n    def __init__(self):\n        self.known = {}\n    def table(self, n):\n" + textwrap.indent(
        TABLE.replace("known", "self.known"), "    "
    )
    assert caches(own, "Net.table") == [("self.known", "n", 3, "make(n)")]
    assert caches(f"{own}    def size(self):\n        return len(self.known)\n", "Net.table")
    assert not caches(f"{own}    def all(self):\n        return self.known.values()\n", "Net.table")
    assert caches(own.replace("self.known", "Net.known"), "Net.table") == [("Net.known", "n", 3, "make(n)")]


@pytest.mark.parametrize(
    ("made", "expected"),
    [("weakref.WeakKeyDictionary()", True), ("weakref.WeakValueDictionary()", False), ("{}", False)],
)
def test_keys_that_are_weakly_referenced(made: str, expected: bool) -> None:
    file = File("m.py", f"known = {made}\ndef table(n):\n{TABLE}".encode())
    assert [each.is_weak for each in keyed_caches(file, definition(file, "table"))] == [expected]
