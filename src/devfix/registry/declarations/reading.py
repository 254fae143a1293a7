"""Read the TOML file of a rule. What is wrong with it is one line, with its place."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from msgspec import Struct, ValidationError
from msgspec.structs import fields

from devfix.decoding import convert
from devfix.errors import RuleError
from devfix.model import Safety
from devfix.model.failure import FailureKind
from devfix.model.patch import ConfidenceName
from devfix.model.tensors import EventKind
from devfix.registry.declarations.checking import Fault, find_faults
from devfix.registry.declarations.lines import line_at
from devfix.registry.declarations.schema import Declaration, Edit, Family, Fix, Place, When

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_KEYS: Mapping[str, type[Struct]] = {"$": Declaration, "$.when": When}  # every other table is a fix
_WORDS: Mapping[str, Collection[str]] = {
    "at": [each.value for each in Place],
    "edit": [each.value for each in Edit],
    "family": [each.value for each in Family],
    "safety": [each.value for each in Safety],
    "kinds": get_args(EventKind),
    "failure-kind": get_args(FailureKind),
    "confidence": get_args(ConfidenceName),
    "confidence-far": get_args(ConfidenceName),
}
_UNKNOWN = re.compile(r"Object contains unknown field `(.*?)`")
_MISSING = re.compile(r"Object missing required field `(.*?)`")
_WRONG = re.compile(r"Invalid enum value '(.*?)'")
_TOML = re.compile(r"(.*) \(at line (\d+), column \d+\)$")


class Document:
    """The file of a rule, checked; `options` has the defaults of its options."""

    def __init__(self, path: Path) -> None:
        """Read the file. Raises RuleError, with the line, for what is wrong with it."""
        self.path = path
        try:
            self.text = path.read_bytes().decode("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise RuleError(f"{path}: cannot be read as UTF-8 text: {error}") from error
        try:
            self.data: Mapping[str, Any] = tomllib.loads(self.text)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            found = _TOML.match(str(error))
            said, line = (found[1], int(found[2])) if found else (str(error), len(self.text.splitlines()))
            raise RuleError(f"{path}:{line}: is not valid TOML: {said}") from error
        given = self.data.get("options", {})
        self.options: Mapping[str, Any] = given if isinstance(given, Mapping) else {}
        for fault in find_faults(self.declaration(self.options)):
            raise self._error(fault)

    def declaration(self, options: Mapping[str, Any]) -> Declaration:
        """Return what the file says for these values of its options. Raises RuleError for data of another form."""
        data = _resolve_options(self.data, options, self._error)
        try:
            found: Declaration = convert(data, Declaration)
        except ValidationError as error:
            raise self._error(_fault(str(error))) from error
        return found

    def _error(self, fault: Fault) -> RuleError:
        return RuleError(f"{self.path}:{line_at(self.text, fault.path)}: {fault.what}")


def _resolve_options(
    value: Any, options: Mapping[str, Any], error: Callable[[Fault], RuleError], path: str = "$"
) -> Any:
    """Return a value with those of options in place of `{ option = "name" }`."""
    if isinstance(value, Mapping):
        if value.keys() == {"option"} and path != "$.options":
            if value["option"] not in options:
                raise error(Fault(path, f"unknown option {value['option']!r}; {_near(value['option'], options)}"))
            return options[value["option"]]
        return {key: _resolve_options(each, options, error, f"{path}.{key}") for key, each in value.items()}
    if isinstance(value, list):
        return [_resolve_options(each, options, error, f"{path}[{number}]") for number, each in enumerate(value)]
    return value


def _fault(said: str) -> Fault:
    """Return a fault in words for what msgspec says, with the place at which it is."""
    what, _, path = said.rpartition(" - at `")
    what, path = (what, path.rstrip("`")) if what else (said, "$")
    if unknown := _UNKNOWN.match(what):
        known = [each.encode_name for each in fields(_KEYS.get(path, Fix))]
        return Fault(f"{path}.{unknown[1]}", f"unknown key {unknown[1]!r}; {_near(unknown[1], known)}")
    if missing := _MISSING.match(what):
        return Fault(path, f"the key `{missing[1]}` is missing")
    name = re.sub(r"\[[^\]]*\]", "", path.rpartition(".")[2])
    if wrong := _WRONG.match(what):
        return Fault(path, f"`{name}` cannot be {wrong[1]!r}; {_near(wrong[1], _WORDS.get(name, ()))}")
    return Fault(path, f"`{name}`: {what[:1].lower()}{what[1:]}")


def _near(name: object, known: Collection[str]) -> str:
    near = get_close_matches(str(name), list(known), 1)
    return f"did you mean {near[0]!r}?" if near else f"known are {', '.join(sorted(known)) or 'none'}"
