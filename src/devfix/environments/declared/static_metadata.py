"""The metadata of a project as its files state it, read without running anything."""

from __future__ import annotations

import ast
import configparser
import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from devfix.environments.declared.setup_files import SetupCall, read_setup_call
from devfix.environments.declared.texts import read_text, read_toml, strings, table

UNKNOWN = "0.0.0"  # stands for a version that is computed
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_SCRIPT = re.compile(r"\w[\w.-]*")
_GROUP = re.compile(r"\w+(?:\.\w+)*")
_OBJECT = re.compile(r"\w+(?:\.\w+)*(?:\s*:\s*\w+(?:\.\w+)*)?")


@dataclass
class StaticMetadata:
    """The name and the version of a project, and its entry points by their groups.

    With `is_version_computed` the version stands for one that only code of the project can say.
    """

    name: str
    version: str
    is_version_computed: bool = False
    entry_points: dict[str, dict[str, str]] = field(default_factory=dict)

    @property
    def stem(self) -> str:
        """The name and the version, as files of wheels begin with them."""
        return f"{re.sub(r'[-_.]+', '_', self.name).lower()}-{self.version}"

    def files(self) -> dict[str, bytes]:
        """Return the files of its folder `.dist-info`, without RECORD."""
        groups = (
            f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in listed.items())
            for group, listed in self.entry_points.items()
        )
        texts = {
            "METADATA": f"Metadata-Version: 2.1\nName: {self.name}\nVersion: {self.version}\n",
            "WHEEL": "Wheel-Version: 1.0\nGenerator: devfix\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            "entry_points.txt": "\n".join(groups),
        }
        return {name: text.encode() for name, text in texts.items() if text}


def read_static_metadata(folder: Path) -> StaticMetadata | None:
    """Return what the files of a project state; None if its name or its entry points are computed."""
    data = read_toml(folder / "pyproject.toml")
    if project := table(data, "project"):
        return _of_project(project)
    if poetry := table(data, "tool", "poetry"):
        return _of_poetry(poetry)
    if not (folder / "setup.py").is_file():
        return _of_setup_cfg(folder)
    call = read_setup_call(folder)
    if call is None:
        return None
    # Many only call `setup()`, which reads setup.cfg.
    is_stated = call.has_more or not call.arguments.keys().isdisjoint(("name", "version", "entry_points", "scripts"))
    return _of_setup_py(call) if is_stated else _of_setup_cfg(folder)


def _of_project(project: Mapping[str, Any]) -> StaticMetadata | None:
    if {"scripts", "gui-scripts", "entry-points"} & set(strings(project.get("dynamic"))):
        return None
    groups = {
        "console_scripts": table(project, "scripts"),
        "gui_scripts": table(project, "gui-scripts"),
        **{group: listed for group, listed in table(project, "entry-points").items() if isinstance(listed, dict)},
    }
    return _metadata(project.get("name"), project.get("version"), groups)


def _of_poetry(poetry: Mapping[str, Any]) -> StaticMetadata | None:
    scripts = {}
    for name, target in table(poetry, "scripts").items():
        given = {"reference": target, "type": "console"} if isinstance(target, str) else target
        if isinstance(given, dict) and given.get("type", "console") == "console":
            scripts[name] = given.get("reference", given.get("callable"))
    plugins = {group: listed for group, listed in table(poetry, "plugins").items() if isinstance(listed, dict)}
    # Plugins of Poetry compute the version, and leave a number in its place.
    version = None if table(poetry, "version") or poetry.get("version") in ("0", "0.0.0") else poetry.get("version")
    return _metadata(poetry.get("name"), version, {"console_scripts": scripts, **plugins})


def _of_setup_cfg(folder: Path) -> StaticMetadata | None:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(read_text(folder / "setup.cfg"))
    except configparser.Error:
        return None
    version: str | None = parser.get("metadata", "version", fallback="").strip()
    if version and version.startswith("file:"):
        version = read_text(_inside(folder, version.removeprefix("file:").strip())).strip()
    groups = {}
    for group, listed in parser.items("options.entry_points") if parser.has_section("options.entry_points") else ():
        lines = (line.partition("=") for line in listed.splitlines() if "=" in line)
        groups[group] = {name.strip(): target.strip() for name, _, target in lines}
    return _metadata(parser.get("metadata", "name", fallback="").strip(), version, groups)


def _of_setup_py(call: SetupCall) -> StaticMetadata | None:
    points, version = call.literal("entry_points", {}), call.literal("version", None)
    if call.has_more or call.literal("scripts", ()) or not isinstance(points, dict):
        return None
    groups = {}
    for group, listed in points.items():
        lines = listed.splitlines() if isinstance(listed, str) else listed
        if not isinstance(lines, (list, tuple)) or not all(isinstance(each, str) for each in lines):
            return None
        pairs = (line.partition("=") for line in lines if "=" in line)
        groups[str(group)] = {name.strip(): target.strip() for name, _, target in pairs}
    return _metadata(call.literal("name", None), version, groups)


def _metadata(name: object, version: object, groups: Mapping[str, Mapping[str, Any]]) -> StaticMetadata | None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return None
    found = StaticMetadata(name, UNKNOWN, True)
    with contextlib.suppress(InvalidVersion):
        found = StaticMetadata(name, str(Version(version if isinstance(version, str) else "")))
    for group, listed in groups.items():
        kept = {key: each.partition("[")[0].strip() for key, each in listed.items() if isinstance(each, str)}
        kept = {key: each for key, each in kept.items() if _SCRIPT.fullmatch(key) and _OBJECT.fullmatch(each)}
        if kept and _GROUP.fullmatch(group):
            found.entry_points[group] = kept
    return found


def source_folders(folder: Path) -> list[Path]:
    """Return the folders from which the modules of a project are imported, as its files state them."""
    stated = [path for each in _stated_requirements(folder) if (path := _inside(folder, each)).is_dir()]
    usual = folder / "src" if (folder / "src").is_dir() else folder
    return list(dict.fromkeys(stated)) or [usual]


def _stated_requirements(folder: Path) -> Iterator[str]:
    tool = table(read_toml(folder / "pyproject.toml"), "tool")
    yield from strings(table(tool, "setuptools", "packages", "find").get("where"))
    for package in _tables(table(tool, "poetry").get("packages")):
        if isinstance(package.get("include"), str):
            yield str(package.get("from", "."))
    # "src/program" is the package itself.
    for path in strings(table(tool, "hatch", "build", "targets", "wheel").get("packages")):
        yield path.rstrip("/").rpartition("/")[0] or "."
    root = table(tool, "uv", "build-backend").get("module-root")
    for each in (
        table(tool, "setuptools", "package-dir").get(""),
        table(tool, "pdm", "build").get("package-dir"),
        "." if root == "" else root,
        _setup_cfg_folder(folder),
        *_setup_py_folders(folder),
    ):
        if isinstance(each, str) and each:
            yield each


def _tables(value: object) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _setup_cfg_folder(folder: Path) -> str:
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(read_text(folder / "setup.cfg"))
    except configparser.Error:
        return ""
    lines = parser.get("options", "package_dir", fallback="").splitlines()
    return next(
        (value.strip() for name, sign, value in (line.partition("=") for line in lines) if sign and not name.strip()),
        "",
    )


def _setup_py_folders(folder: Path) -> Iterator[str]:
    """Yield what the key "" of `package_dir` says, and where `find_packages` looks."""
    call = read_setup_call(folder)
    if call is None:
        return
    placed = call.literal("package_dir", {})
    if isinstance(placed, dict):
        yield str(placed.get("", ""))
    found = call.arguments.get("packages")
    if isinstance(found, ast.Call):
        where = [*found.args[:1], *(each.value for each in found.keywords if each.arg == "where")]
        yield from (each.value for each in where if isinstance(each, ast.Constant) and isinstance(each.value, str))


def _inside(folder: Path, name: str) -> Path:
    """Return a path below a folder; the folder itself if the name leads out of it."""
    path = (folder / name).resolve()
    return path if path.is_relative_to(folder.resolve()) else folder.resolve()
