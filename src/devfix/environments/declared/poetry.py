"""The dependencies of Poetry's tables in pyproject.toml, as requirements of the package index."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from devfix.environments.declared.requirement import DeclaredRequirement, Part, find_line
from devfix.environments.declared.texts import strings, table

FILE = "pyproject.toml"


def read_poetry(folder: Path, data: Mapping[str, Any], text: str, tests: frozenset[str]) -> tuple[Part, list[Part]]:
    """Return the main part, and one for each group and extra whose name is among `tests`."""
    poetry = table(data, "tool", "poetry")
    main = table(poetry, "dependencies")
    extras = {name: strings(names) for name, names in table(poetry, "extras").items()}
    is_optional = {name for name, value in main.items() if isinstance(value, dict) and value.get("optional") is True}
    required = {name: value for name, value in main.items() if name not in is_optional}
    parts = []
    for extra, names in extras.items():
        wanted = {canonicalize_name(name) for name in names}
        chosen = {name: main[name] for name in main if canonicalize_name(name) in wanted}
        if extra in tests:
            parts.append(Part(f"the extra {extra} of {FILE}", tuple(_requirements(folder, chosen, text))))
    groups = {name: table(group, "dependencies") for name, group in table(poetry, "group").items()}
    groups = {**groups, "dev": {**table(poetry, "dev-dependencies"), **groups.get("dev", {})}}
    parts += [
        Part(f"the group {name} of {FILE}", tuple(_requirements(folder, group, text)))
        for name, group in groups.items()
        if name in tests and group
    ]
    return Part(FILE, tuple(_requirements(folder, required, text))), parts


def poetry_python(data: Mapping[str, Any]) -> str:
    """Return the specifier of Python that Poetry's dependencies name; "" if there is none."""
    value = table(data, "tool", "poetry", "dependencies").get("python")
    return specifier(value) if isinstance(value, str) else ""


def _requirements(folder: Path, listed: Mapping[str, Any], text: str) -> Iterator[DeclaredRequirement]:
    for name, value in listed.items():
        if canonicalize_name(name) == "python":
            continue
        for each in value if isinstance(value, list) else [value]:
            if requirement := _requirement(folder, name, each):
                yield DeclaredRequirement(requirement, FILE, find_line(text, name))


def _requirement(folder: Path, name: str, value: Any) -> str:
    """Return the requirement for a value of Poetry: a version, or a table with one, an address or a path."""
    given = {"version": value} if isinstance(value, str) else value
    if not isinstance(given, dict):
        return ""
    extras = ",".join(strings(given.get("extras")))
    named = f"{name}[{extras}]" if extras else name
    markers = [f"({given['markers']})"] if isinstance(given.get("markers"), str) else []
    if isinstance(python := given.get("python"), str):
        markers += [f"python_full_version {operator} '{number}'" for operator, number in _bounds(specifier(python))]
    marker = f" ; {' and '.join(markers)}" if markers else ""
    if isinstance(address := given.get("git"), str):
        revision = next((f"@{given[key]}" for key in ("rev", "tag", "branch") if isinstance(given.get(key), str)), "")
        below = f"#subdirectory={given['subdirectory']}" if isinstance(given.get("subdirectory"), str) else ""
        return f"{named} @ git+{_with_scheme(address)}{revision}{below}{marker}"
    if isinstance(address := given.get("url"), str):
        return f"{named} @ {address}{marker}"
    if isinstance(local := given.get("path") or given.get("file"), str):
        return f"{named} @ {(folder / local).resolve().as_uri()}{marker}"
    version = given.get("version")
    return f"{named}{specifier(version)}{marker}" if isinstance(version, str) else f"{named}{marker}"


def _with_scheme(address: str) -> str:
    """Return an address with a scheme: git@host:owner/name is one of ssh."""
    match = re.fullmatch(r"([\w.-]+@[\w.-]+):(?!//)(.+)", address)
    return f"ssh://{match[1]}/{match[2]}" if match else address


def _bounds(text: str) -> list[tuple[str, str]]:
    found = (re.match(r"(===|==|!=|<=|>=|~=|<|>)(.+)", part) for part in text.split(","))
    return [(match[1], match[2]) for match in found if match]


def specifier(version: str) -> str:
    """Return a constraint of Poetry as a specifier of the package index.

    >>> specifier("^1.2.3"), specifier("^0.2"), specifier("~1.2"), specifier("1.*"), specifier("2.1"), specifier("*")
    ('>=1.2.3,<2', '>=0.2,<0.3', '>=1.2,<1.3', '==1.*', '==2.1', '')
    >>> specifier(">=1, <2"), specifier("^0"), specifier("^1 || ^2")
    ('>=1,<2', '>=0,<1', '>=1,<3')
    """
    if "|" in version:
        return _join_ranges([specifier(each) for each in re.split(r"\s*\|\|?\s*", version.strip())])
    parts = [part for part in re.split(r"\s*,\s*|(?<=[\w*])\s+(?=[<>=!^~])", version.strip()) if part]
    return ",".join(filter(None, map(_one, parts)))


def _one(part: str) -> str:
    text = re.sub(r"\s+", "", part)
    if text in ("", "*"):
        return ""
    if text[0] == "^":
        return f">={text[1:]},<{_next(text[1:], caret=True)}"
    if text[0] == "~" and not text.startswith("~="):
        return f">={text[1:]},<{_next(text[1:], caret=False)}"
    if text[0] == "=" and not text.startswith("=="):
        return f"={text}"
    return text if text[0] in "<>=!~" else f"=={text}"


def _next(text: str, caret: bool) -> str:
    """Return the first release that the constraint excludes."""
    try:
        release = list(Version(text.replace(".*", "")).release)
    except InvalidVersion:
        return "9999"
    if caret:
        kept = next((i for i, number in enumerate(release) if number), len(release) - 1)
    else:
        kept = min(1, len(release) - 1)
    return ".".join(map(str, [*release[:kept], release[kept] + 1]))


def _join_ranges(alternatives: list[str]) -> str:
    """Return one range around several: the index has no "or" within a requirement."""
    lowest = [number for each in alternatives for sign, number in _bounds(each) if sign in (">=", "==", "~=")]
    highest = [number for each in alternatives for sign, number in _bounds(each) if sign == "<"]
    parts = []
    try:
        if len(lowest) >= len(alternatives):
            parts.append(f">={min((number.replace('.*', '') for number in lowest), key=Version)}")
        if len(highest) == len(alternatives):
            parts.append(f"<{max(highest, key=Version)}")
    except InvalidVersion:
        return ""
    return ",".join(parts)
