"""JSON made by chance that has the types of a record, and any values of these: what only malice would write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

HOSTILE = ["\x1b[31m", "\x9b31m", "\u202egnp.exe", "\ud800", "/tree/main.py", "/tree/../etc/passwd", "/tree/\0", ""]
texts = st.one_of(st.text(), st.sampled_from(HOSTILE))


def forged(kind: Any) -> st.SearchStrategy[Any]:
    """JSON that `msgspec.convert` takes for a type: of dataclasses, tuples, mappings, Literals, Enums, plain values."""
    origin, inner = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        return st.deferred(lambda: _members(kind))
    if origin is Annotated:
        return _bounded(inner[0], inner[1])
    if origin is tuple and inner[-1] is not ...:
        return st.tuples(*map(forged, inner)).map(list)
    if origin is tuple:
        return st.lists(forged(inner[0]), max_size=2)
    if origin in (dict, Mapping):
        return st.dictionaries(texts, forged(inner[1]), max_size=2)
    if origin is Literal:
        return st.sampled_from(inner)
    if origin in (Union, UnionType):
        return st.one_of(*map(forged, inner))
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from([each.value for each in kind])
    known = {str: texts, int: st.integers(), float: st.floats(), bool: st.booleans(), NoneType: st.none()}
    return known[kind]


def _bounded(kind: Any, meta: Any) -> st.SearchStrategy[Any]:
    if meta.pattern is not None:
        return st.from_regex(meta.pattern, fullmatch=True)
    if meta.ge is not None:
        return st.integers(meta.ge, meta.le) if kind is int else st.floats(meta.ge, meta.le, allow_nan=False)
    return forged(kind)


def _members(kind: Any) -> st.SearchStrategy[dict[str, Any]]:
    types = get_type_hints(kind, include_extras=True)
    needed = {each.name for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING}
    strategies = {name: forged(each) for name, each in types.items()}
    return st.fixed_dictionaries(
        {name: strategies[name] for name in needed},
        optional={name: strategies[name] for name in strategies.keys() - needed},
    )
