"""Read the declared environment of a repository, from its files in the order in which they count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from devfix.environments.declared.conda import read_conda
from devfix.environments.declared.lock_files import Pins, read_lock
from devfix.environments.declared.poetry import poetry_python, read_poetry
from devfix.environments.declared.project_files import PROJECT, is_declared, read_project, workspace_members
from devfix.environments.declared.requirement import DeclaredRequirement, Part
from devfix.environments.declared.requirement_choice import TESTING, requirement_files
from devfix.environments.declared.requirement_files import RequirementLines, read_requirements
from devfix.environments.declared.setup_files import SetupDeclaration, read_setup_cfg, read_setup_py
from devfix.environments.declared.texts import read_text, read_toml, table

CONDA = ("environment.yml", "environment.yaml", "conda.yml", "conda.yaml", "env.yml")


@dataclass
class Declaration:
    """The environment that a folder declares.

    `main` has to be installed. The `optional` parts are what its tests need, and what other files add; the last is the
    first to be left out where they cannot be resolved together. `sources` are files that uv reads itself, `pins` the
    lock. With `is_computed` the main part is what code of the repository answers. `python` is a specifier that has to
    hold, from the file `python_from`, and `usual_python` one that may.
    """

    folder: Path
    main: Part = field(default_factory=lambda: Part(""))
    optional: list[Part] = field(default_factory=list)
    sources: list[Path] = field(default_factory=list)
    constraints: list[DeclaredRequirement] = field(default_factory=list)
    index_options: list[str] = field(default_factory=list)
    pins: Pins = field(default_factory=Pins)
    python: str = ""
    python_from: str = ""
    usual_python: str = ""
    is_computed: bool = False
    files: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def requirements(self) -> Iterator[DeclaredRequirement]:
        """Every requirement, of the main part and of the optional ones."""
        for part in (self.main, *self.optional):
            yield from part.requirements


def read_declaration(root: Path, subfolder: str = "") -> Declaration:
    """Return what the nearest folder from `subfolder` up to `root` declares; nothing if none declares anything."""
    folder = root / subfolder
    for place in (folder, *folder.parents):
        found = read_folder(place, root)
        if found.files or place == root:
            return found
    return Declaration(folder)


def read_folder(folder: Path, root: Path) -> Declaration:
    """Return what a folder itself declares, with the lock of the workspace that it is part of."""
    found = Declaration(folder)
    data = read_toml(folder / PROJECT)
    for reader in (_project, _poetry, _setup):
        if not found.files:
            reader(found, data)
    if PROJECT in found.files and (pins := _find_lock(folder, root)).name:
        # Requirement files beside a lock are exported from it, as a rule.
        found.pins, found.files = pins, [pins.name, *found.files]
    elif found.main.requirements or found.is_computed:
        _add_requirements(found)
    else:
        _requirements(found)
    if not found.files:
        _conda(found)
    return found


def _find_lock(folder: Path, root: Path) -> Pins:
    """Return the lock of a folder, or of the workspace that it is part of."""
    for place in (folder, *folder.parents):
        pins = read_lock(place)
        if pins.name or place == root:
            return pins
    return Pins()


def _project(found: Declaration, data: dict[str, Any]) -> None:
    text = read_text(found.folder / PROJECT)
    if not is_declared(data):
        for member in workspace_members(found.folder, data):
            found.sources.append(member)
            found.files = [PROJECT]
        return
    project = read_project(found.folder, data, text)
    found.python, found.python_from = project.python, PROJECT
    if project.is_dynamic:
        _setup(found, data)
        if not found.main.requirements:
            found.sources, found.is_computed = [found.folder / PROJECT], True
    elif project.from_files is not None:
        _take_lines(found, PROJECT, project.from_files)
    elif project.requirements or not (found.folder / "setup.py").is_file():
        found.main = Part(PROJECT, tuple(project.requirements))
        found.sources = [found.folder / PROJECT] if table(data, "project") else []
    else:
        return
    found.files = list(dict.fromkeys([PROJECT, *found.files]))
    found.optional += project.optional if found.folder / PROJECT in found.sources or not found.sources else []


def _poetry(found: Declaration, data: dict[str, Any]) -> None:
    if not table(data, "tool", "poetry"):
        return
    found.main, found.optional = read_poetry(found.folder, data, read_text(found.folder / PROJECT), TESTING)
    found.python, found.python_from = poetry_python(data), PROJECT
    found.files = [PROJECT] if found.main.requirements or found.optional else []


def _setup(found: Declaration, data: dict[str, Any]) -> None:
    for name, reader in (("setup.cfg", read_setup_cfg), ("setup.py", read_setup_py)):
        if not (found.folder / name).is_file():
            continue
        declared: SetupDeclaration = reader(found.folder)
        if declared.python and not found.python:
            found.python, found.python_from = declared.python, name
        if declared.requirements:
            found.main = Part(name, tuple(declared.requirements))
            found.files.append(name)
            found.optional += [
                Part(f"the extra {extra} of {name}", tuple(each))
                for extra, each in declared.extras.items()
                if extra in TESTING
            ]
            return
        if declared.is_dynamic and not any(requirement_files(found.folder)):
            found.sources, found.is_computed = [found.folder / name], True
            found.files.append(name)


def _requirements(found: Declaration) -> None:
    main, tests, notes = requirement_files(found.folder)
    found.notes += notes
    if main:
        _take_lines(found, main, read_requirements(found.folder, main))
        found.files.append(main)
    _add_parts(found, tests)


def _add_requirements(found: Declaration) -> None:
    """Add requirement files beside other declarations: what scripts and tests need in addition, as a rule."""
    main, tests, _ = requirement_files(found.folder)
    _add_parts(found, [*tests, *([main] if main and found.main.title != main else [])])


def _add_parts(found: Declaration, names: list[str]) -> None:
    for name in names:
        lines = read_requirements(found.folder, name)
        if lines.requirements:
            found.optional.append(Part(name, tuple(lines.requirements)))
            found.files.append(name)
        _take_rest(found, lines)


def _take_lines(found: Declaration, title: str, lines: RequirementLines) -> None:
    found.main = Part(title, tuple(lines.requirements))
    _take_rest(found, lines)


def _take_rest(found: Declaration, lines: RequirementLines) -> None:
    found.constraints += lines.constraints
    found.index_options += [each for each in lines.options if each not in found.index_options]
    found.notes += lines.notes


def _conda(found: Declaration) -> None:
    name = next((name for name in CONDA if (found.folder / name).is_file()), None)
    if name is None:
        return
    conda = read_conda(found.folder, name)
    found.main = Part(name, (*conda.requirements, *conda.lines.requirements))
    _take_rest(found, conda.lines)
    found.notes += conda.notes
    found.usual_python, found.python_from, found.files = conda.python, name, [name]
