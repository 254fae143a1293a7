"""The options of a rule: a dataclass with defaults, filled from the configuration."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from msgspec import Meta

from devfix.config import decode_table
from devfix.errors import RuleError

# Maps the type of an option's default to the type as which its values are decoded.
KINDS: Mapping[type, Any] = {
    bool: Annotated[bool, Meta(description="true or false")],
    int: Annotated[int, Meta(description="a whole number")],
    float: Annotated[float, Meta(description="a number")],
    str: Annotated[str, Meta(description="a string")],
    tuple: Annotated[tuple[str, ...], Meta(description="a list of strings")],
    frozenset: Annotated[frozenset[str], Meta(description="a list of strings")],
}


def defaults(options: type[Any]) -> dict[str, Any]:
    """Return the options' names and their defaults."""
    return {field.name: getattr(options(), field.name) for field in dataclasses.fields(options)}


def check_options(options: object, path: Path) -> None:
    """Raise RuleError unless `Options` is a dataclass whose fields all have defaults that TOML can express."""
    if not isinstance(options, type) or not dataclasses.is_dataclass(options):
        raise RuleError(f"{path}: `Options` must be a dataclass")
    try:
        values = defaults(options)
    except TypeError as error:
        raise RuleError(f"{path}: every field of `Options` needs a default: {error}") from error
    for name, value in values.items():
        if type(value) not in KINDS:
            kinds = ", ".join(kind.__name__ for kind in KINDS)
            raise RuleError(
                f"{path}: option {_key(name)} has a default of type {type(value).__name__}, not one of {kinds}"
            )


def read_options(options: type[Any], values: Mapping[str, Any], rule: str) -> Any:
    """Return the options with `values` from the configuration. Raises UserError for an unknown name or a wrong type."""
    types = {name: KINDS[type(value)] for name, value in defaults(options).items()}
    return options(**decode_table(values, types, f"rule {rule}", "option"))


def format_defaults(options: type[Any]) -> Mapping[str, str]:
    """Return each option's name and its default in TOML syntax."""
    return MappingProxyType({_key(name): _toml(value) for name, value in defaults(options).items()})


def _key(name: str) -> str:
    """Return a field's name as it is written in the configuration."""
    return name.replace("_", "-")


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | frozenset):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)
