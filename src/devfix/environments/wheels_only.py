"""Reduce a declaration to what needs no build: the lines that wheels can meet, and the projects beside them.

uv builds editable projects in spite of `--no-build`, and a table `tool.uv` can name them, so that no file and no
folder of the repository is given to uv: its lines are read here, those of the projects that it names among them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from packaging.markers import InvalidMarker, Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from devfix.environments.declared.declaration import Declaration, read_folder
from devfix.environments.declared.project_files import PROJECT
from devfix.environments.declared.requirement import DeclaredRequirement, Part, name_in
from devfix.environments.declared.texts import read_toml, strings, table
from devfix.environments.explanation import LeftOut
from devfix.environments.uv_settings import UvSettings, read_uv_settings

_TO_BUILD = "it is built from its sources, and nothing is built"
_OUTSIDE = "its folder is outside of the repository"


@dataclass
class WheelsOnly:
    """A declaration for which uv needs nothing but wheels.

    `packages` are the caller's own requirements, `folders` local projects whose requirements are among the lines;
    `left_out` has what cannot be met by wheels. `needs_build`: building would give more.
    """

    declaration: Declaration
    packages: tuple[str, ...] = ()
    folders: list[Path] = field(default_factory=list)
    left_out: dict[str, LeftOut] = field(default_factory=dict)
    needs_build: bool = False


def restrict_to_wheels(declaration: Declaration, root: Path, packages: tuple[str, ...]) -> WheelsOnly:
    """Return what can be asked for in place of a declaration of the repository at `root` if nothing is built."""
    return _Restriction(declaration, root.resolve()).restrict(packages)


class _Restriction:
    def __init__(self, declaration: Declaration, root: Path) -> None:
        self.root = root
        self.whole = replace(
            declaration,
            sources=[],
            is_computed=False,
            constraints=list(declaration.constraints),
            index_options=list(declaration.index_options),
            notes=list(declaration.notes),
        )
        self.found = WheelsOnly(self.whole)
        self.given = declaration
        self._expanded: set[tuple[Path, str]] = set()

    def restrict(self, packages: tuple[str, ...]) -> WheelsOnly:
        """Replace each part by lines for which wheels are enough."""
        given, settings = self.given, self._settings(self.given.folder)
        members = [source.parent for source in given.sources if source.parent != given.folder]
        lines = [line for folder in members for line in self._folder(folder, DeclaredRequirement(PROJECT, PROJECT))]
        lines += self._lines(given.main.requirements, settings)
        if given.is_computed:
            self._computes(next((source.name for source in given.sources), PROJECT))
        self.whole.main = Part(given.main.title, tuple(lines))
        self.whole.optional = [
            Part(each.title, tuple(self._lines(each.requirements, settings))) for each in given.optional
        ]
        ours = [DeclaredRequirement(text.strip().removeprefix("-e").strip(), "devfix") for text in packages]
        self.found.packages = tuple(each.text for each in self._lines(ours, UvSettings(given.folder)))
        self.whole.constraints = [each for each in self.whole.constraints if not _address(each.text)]
        # The commits of a lock have to be built; who asks for one is left out above.
        overrides = [text for text in (*given.pins.overrides, *settings.overrides) if not _address(text)]
        self.whole.pins = replace(given.pins, overrides=tuple(overrides))
        return self.found

    def _settings(self, folder: Path) -> UvSettings:
        settings = read_uv_settings(folder, self.root)
        constraints = (DeclaredRequirement(text, PROJECT) for text in settings.constraints)
        self.whole.constraints += [each for each in constraints if each.parsed is not None]
        self._add_indexes(settings.indexes)
        return settings

    def _add_indexes(self, addresses: Iterator[str] | tuple[str, ...]) -> None:
        lines = (f"--extra-index-url {address}" for address in addresses)
        self.whole.index_options += [line for line in lines if line not in self.whole.index_options]

    def _computes(self, place: str) -> None:
        self.whole.notes.append(f"{place} computes what the program needs, and is not run: that is left out")
        self.found.needs_build = True

    def _lines(
        self, asked: tuple[DeclaredRequirement, ...] | list[DeclaredRequirement], settings: UvSettings
    ) -> list[DeclaredRequirement]:
        return [line for each in asked for line in self._line(each, settings)]

    def _line(self, asked: DeclaredRequirement, settings: UvSettings) -> Iterator[DeclaredRequirement]:
        """Yield what stands for a requirement: itself, those of the project that it names, or nothing."""
        parsed = asked.parsed
        if parsed is not None and parsed.marker is not None and parsed.url and not parsed.marker.evaluate():
            return
        if address := _address(asked.text):
            yield from self._at_address(asked, address)
        elif parsed is None:
            yield asked  # uv says what is wrong with it
        elif asked.name == settings.name:
            yield from self._extras_of_itself(parsed, settings)
        else:
            yield from self._find_source(asked, settings)

    def _extras_of_itself(self, parsed: Requirement, settings: UvSettings) -> Iterator[DeclaredRequirement]:
        extras = table(read_toml(settings.folder / PROJECT), "project", "optional-dependencies")
        for extra in sorted(parsed.extras):
            if (settings.folder, extra) not in self._expanded:
                self._expanded.add((settings.folder, extra))
                listed = [DeclaredRequirement(text, PROJECT) for text in strings(extras.get(extra))]
                yield from self._lines(listed, settings)

    def _find_source(self, asked: DeclaredRequirement, settings: UvSettings) -> Iterator[DeclaredRequirement]:
        source = _choose_source(settings.sources.get(asked.name, []))
        if isinstance(address := source.get("url"), str):
            yield from self._at_address(asked, address, asked.name)
        elif isinstance(address := source.get("git"), str):
            yield from self._at_address(asked, f"git+{address}", asked.name)
        elif isinstance(path := source.get("path"), str):
            yield from self._at_path(asked, (settings.sources_folder(asked.name) / path).resolve(), asked.name)
        elif source.get("workspace") is True and (member := settings.members.get(asked.name)):
            yield from self._at_path(asked, member, asked.name)
        else:
            if isinstance(index := source.get("index"), str) and index in settings.named_indexes:
                self._add_indexes((settings.named_indexes[index],))
            yield asked

    def _at_address(self, asked: DeclaredRequirement, address: str, name: str = "") -> Iterator[DeclaredRequirement]:
        parts = urlsplit(address)
        if address.startswith("/") or parts.scheme == "file":
            path = Path(unquote(parts.path) if parts.scheme else address.partition("[")[0])
            yield from self._at_path(asked, path.resolve(), name or asked.name)
        elif parts.scheme in ("http", "https") and parts.path.endswith(".whl"):
            yield replace(asked, text=f"{name} @ {address}") if name else asked
        else:
            self._leave_out(asked, name or asked.name or _last(parts.path), _why(address))

    def _at_path(self, asked: DeclaredRequirement, path: Path, name: str) -> Iterator[DeclaredRequirement]:
        name = name or path.name
        if not path.is_relative_to(self.root) and path.suffix != ".whl":
            self._leave_out(asked, name, _OUTSIDE)
        elif path.is_dir():
            yield from self._folder(path, asked)
        elif path.suffix == ".whl":
            yield replace(asked, text=f"{name_in(path.name.partition('-')[0])} @ {path.as_uri()}")
        else:
            self._leave_out(asked, name, _TO_BUILD)

    def _folder(self, folder: Path, asked: DeclaredRequirement) -> Iterator[DeclaredRequirement]:
        """Yield what a local project needs, which is installed with its sources where they are."""
        folder = folder.resolve()
        if folder in self.found.folders or folder == self.given.folder.resolve():
            return
        self.found.folders.append(folder)
        inner, shown = read_folder(folder, self.root), folder.relative_to(self.root).as_posix()
        if inner.is_computed:
            self._computes(f"{shown} ({asked.place})")
        self.whole.index_options += [each for each in inner.index_options if each not in self.whole.index_options]
        lines = [replace(each, path=f"{shown}/{each.path}") for each in inner.main.requirements]
        yield from self._lines(lines, self._settings(folder))

    def _leave_out(self, asked: DeclaredRequirement, name: str, reason: str) -> None:
        name = canonicalize_name(name)
        self.found.needs_build = self.found.needs_build or reason != _OUTSIDE
        self.found.left_out.setdefault(name, LeftOut(name, reason, asked, reason != _OUTSIDE))


def _address(text: str) -> str:
    """Return the address or the path that a requirement names; "" if it has a name alone."""
    asked = DeclaredRequirement(text, "")
    if asked.parsed is not None:
        return asked.parsed.url or ""
    return text.partition(" ;")[0].strip() if text.startswith("/") or "://" in text else ""


def _why(address: str) -> str:
    return "it is built from a repository, and nothing is built" if address.startswith("git+") else _TO_BUILD


def _last(path: str) -> str:
    """Return a name for what an address without one is: the last part of its path."""
    return path.rstrip("/").rpartition("/")[2].partition("@")[0].removesuffix(".git") or "a package"


def _choose_source(sources: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the source that holds for this platform; an empty one if none does."""
    for source in sources:
        try:
            if not isinstance(text := source.get("marker"), str) or Marker(text).evaluate():
                return source
        except InvalidMarker:
            continue
    return {}
