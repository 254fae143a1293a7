"""The tables of `tool.uv` that say what the names of requirements mean, read in place of uv."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from devfix.environments.declared.project_files import PROJECT, workspace_members
from devfix.environments.declared.requirement_files import has_credential
from devfix.environments.declared.texts import read_toml, strings, table

_ADDRESS = re.compile(r"https?://\S+")


@dataclass
class UvSettings:
    """The settings for a folder: `name` is that of its project, `sources` and `members` go by normalized names.

    A source is one of the folder itself or, where it has none of that name, of its workspace; `indexes` are asked for
    every package, `named_indexes` for those whose source is one.
    """

    folder: Path
    name: str = ""
    sources: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)
    members: dict[str, Path] = field(default_factory=dict)
    indexes: tuple[str, ...] = ()
    named_indexes: dict[str, str] = field(default_factory=dict)
    constraints: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()

    def sources_folder(self, name: str) -> Path:
        """Return the folder from which the path of a source counts."""
        return self.folders.get(name, self.folder)


def read_uv_settings(folder: Path, root: Path) -> UvSettings:
    """Return what holds for a folder of the repository at `root`, with the tables of its workspace."""
    folder = folder.resolve()
    found, workspace = UvSettings(folder, project_name(folder)), _workspace(folder, root)
    for place in dict.fromkeys([folder, workspace]):
        data = table(read_toml(place / PROJECT), "tool", "uv")
        for name, source in table(data, "sources").items():
            listed = [each for each in (source if isinstance(source, list) else [source]) if isinstance(each, dict)]
            if (key := canonicalize_name(name)) not in found.sources:
                found.sources[key], found.folders[key] = listed, place
        for index in _indexes(data):
            found.named_indexes.setdefault(str(index.get("name", "")), index["url"])
            if index.get("explicit") is not True:
                found.indexes += (index["url"],)
        found.constraints += tuple(strings(data.get("constraint-dependencies")))
        found.overrides += tuple(strings(data.get("override-dependencies")))
    members = (path.parent for path in workspace_members(workspace, read_toml(workspace / PROJECT)))
    for member in [workspace, *members]:
        if name := project_name(member):
            found.members.setdefault(name, member.resolve())
    return found


def project_name(folder: Path) -> str:
    """Return the normalized name of the project in a folder; "" if its pyproject.toml names none."""
    data = read_toml(folder / PROJECT)
    name = table(data, "project").get("name") or table(data, "tool", "poetry").get("name")
    return canonicalize_name(name) if isinstance(name, str) else ""


def _workspace(folder: Path, root: Path) -> Path:
    """Return the root of the workspace that a folder is part of; the folder itself if there is none."""
    for place in (folder, *folder.parents):
        if table(read_toml(place / PROJECT), "tool", "uv", "workspace"):
            return place
        if place == root or not place.is_relative_to(root):
            break
    return folder


def _indexes(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the indexes with an address that anybody may ask."""
    listed = data.get("index")
    for each in listed if isinstance(listed, list) else []:
        url = each.get("url") if isinstance(each, dict) else None
        if isinstance(url, str) and _ADDRESS.fullmatch(url) and not has_credential(url):
            yield each
