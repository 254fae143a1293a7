"""A rule's options: a dataclass with defaults, filled from the configuration."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from devfix.errors import RuleError, UserError

KINDS: Mapping[type, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a string",
    tuple: "a list of strings",
    frozenset: "a list of strings",
}


def defaults(options: type[Any]) -> dict[str, Any]:
    """The options' names, as configuration spells them, and their defaults."""
    return {field.name.replace("_", "-"): getattr(options(), field.name) for field in dataclasses.fields(options)}


def check_options(options: object, path: Path) -> None:
    """Raise RuleError where `Options` is no dataclass whose fields all have defaults of a kind that TOML can give."""
    if not isinstance(options, type) or not dataclasses.is_dataclass(options):
        raise RuleError(f"{path}: `Options` must be a dataclass")
    try:
        values = defaults(options)
    except TypeError as error:
        raise RuleError(f"{path}: every field of `Options` needs a default: {error}") from error
    for name, value in values.items():
        if type(value) not in KINDS:
            kinds = ", ".join(kind.__name__ for kind in KINDS)
            raise RuleError(f"{path}: option {name} has a default of type {type(value).__name__}, not one of {kinds}")


def read_options(options: type[Any], values: Mapping[str, Any], rule: str) -> Any:
    """The options with `values` from the configuration. Raises UserError for an unknown name or a wrong type."""
    known = defaults(options)
    taken = {}
    for name, value in values.items():
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {', '.join(sorted(known)) or 'none'}"
            raise UserError(f"rule {rule}: unknown option {name!r}; {hint}")
        taken[name.replace("-", "_")] = _taken(value, type(known[name]), f"rule {rule}: option {name!r}")
    return options(**taken)


def _taken(value: Any, kind: type, where: str) -> Any:
    if kind in (tuple, frozenset):
        fits = isinstance(value, list) and all(isinstance(item, str) for item in value)
    elif kind is float:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    else:
        fits = type(value) is kind
    if not fits:
        raise UserError(f"{where} must be {KINDS[kind]}, not {value!r}")
    return kind(value)


def shown(options: type[Any]) -> Mapping[str, str]:
    """Each option's name and its default, as TOML writes it."""
    return MappingProxyType({name: _toml(value) for name, value in defaults(options).items()})


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | frozenset):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)
