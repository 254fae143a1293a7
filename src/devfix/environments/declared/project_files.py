"""The [project] table of pyproject.toml, its groups, and the members of a workspace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from devfix.environments.declared.requirement import DeclaredRequirement, Part, find_line, name_in
from devfix.environments.declared.requirement_choice import TESTING
from devfix.environments.declared.requirement_files import RequirementLines, read_requirements
from devfix.environments.declared.texts import read_toml, strings, table

PROJECT = "pyproject.toml"


@dataclass
class ProjectDeclaration:
    """The declarations of [project] and [dependency-groups].

    `from_files` has the lines of the requirement files that stand for its dependencies, `is_dynamic`: they are computed
    elsewhere.
    """

    requirements: list[DeclaredRequirement] = field(default_factory=list)
    optional: list[Part] = field(default_factory=list)
    python: str = ""
    is_dynamic: bool = False
    from_files: RequirementLines | None = None


def is_declared(data: Mapping[str, Any]) -> bool:
    """Return whether there is a project that uv can read: Poetry's tables alone are none."""
    if not table(data, "project"):
        return bool(table(data, "dependency-groups"))
    # Poetry 2 allows for both: the dependencies are then where there are some.
    poetry = table(data, "tool", "poetry", "dependencies")
    return not poetry or bool(strings(table(data, "project").get("dependencies")))


def read_project(folder: Path, data: Mapping[str, Any], text: str) -> ProjectDeclaration:
    """Return what the tables declare; extras and groups only if tests need them, by their names."""
    project, found = table(data, "project"), ProjectDeclaration()
    python = project.get("requires-python")
    found.python = python if isinstance(python, str) else ""
    found.requirements = list(_requirements(strings(project.get("dependencies")), text))
    dynamic = strings(project.get("dynamic"))
    if "dependencies" in dynamic:
        given = table(data, "tool", "setuptools", "dynamic", "dependencies").get("file")
        files = [given] if isinstance(given, str) else strings(given)
        if files:
            found.from_files = _read_files(folder, files)
        else:
            found.is_dynamic = True
    for name, listed in table(project, "optional-dependencies").items():
        if name in TESTING:
            requirements = tuple(_requirements(strings(listed), text))
            found.optional.append(Part(f"the extra {name} of {PROJECT}", requirements, ("--extra", name)))
    defaults = set(strings(table(data, "tool", "uv").get("default-groups"))) or {"dev"}
    for name, listed in table(data, "dependency-groups").items():
        if name in TESTING or name in defaults:
            requirements = tuple(_requirements(strings(listed), text))
            found.optional.append(
                Part(f"the group {name} of {PROJECT}", requirements, ("--group", f"{folder / PROJECT}:{name}"))
            )
    found.optional += _older_groups(data, text)
    return found


def _older_groups(data: Mapping[str, Any], text: str) -> Iterator[Part]:
    """Yield the groups of development dependencies that PDM and uv had before there was a standard."""
    groups = {
        **table(data, "tool", "pdm", "dev-dependencies"),
        "dev": table(data, "tool", "uv").get("dev-dependencies"),
    }
    for name, listed in groups.items():
        if name in TESTING and (requirements := tuple(_requirements(strings(listed), text))):
            yield Part(f"the development dependencies {name} of {PROJECT}", requirements)


def _read_files(folder: Path, names: list[str]) -> RequirementLines:
    whole = RequirementLines()
    for name in names:
        lines = read_requirements(folder, name)
        whole.requirements += lines.requirements
        whole.constraints += lines.constraints
        whole.options += lines.options
        whole.notes += lines.notes
    return whole


def _requirements(listed: list[str], text: str) -> Iterator[DeclaredRequirement]:
    lines = text.splitlines()
    for each in listed:
        found = (number for number, line in enumerate(lines, 1) if each in line)
        yield DeclaredRequirement(each, PROJECT, next(found, 0) or find_line(text, name_in(each)))


def workspace_members(folder: Path, data: Mapping[str, Any]) -> list[Path]:
    """Return the pyproject.toml of each member of a uv workspace whose root is no project itself."""
    workspace = table(data, "tool", "uv", "workspace")
    excluded = {path for pattern in strings(workspace.get("exclude")) for path in _matching(folder, pattern)}
    found = {path for pattern in strings(workspace.get("members")) for path in _matching(folder, pattern)}
    members = (path / PROJECT for path in sorted(found - excluded))
    return [path for path in members if path.is_file() and table(read_toml(path), "project")]


def _matching(folder: Path, pattern: str) -> list[Path]:
    if pattern.startswith("/") or ".." in pattern.split("/"):
        return []
    return list(folder.glob(pattern))
