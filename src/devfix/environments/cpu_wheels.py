"""CPU builds of torch in the folders of wheels that the user names, where no index of such builds is reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from packaging.tags import Tag, compatible_tags, cpython_tags
from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version


def cpu_release(index_lines: Iterable[str], python: str) -> str:
    """Return the newest CPU build of torch for a version of Python, as a requirement; "" if there is none."""
    tags = {*cpython_tags(tuple(map(int, python.split(".")[:2]))), *compatible_tags()}
    found = [
        version
        for folder in wheel_folders(index_lines)
        for name, version, fits in _wheels(folder, tags)
        if name == "torch" and version.local == "cpu" and fits
    ]
    return f"torch=={max(found)}" if found else ""


def wheel_folders(index_lines: Iterable[str]) -> Iterator[Path]:
    """Yield the folders of wheels among the lines."""
    for line in index_lines:
        option, _, place = line.partition(" ")
        if option == "--find-links" and (path := Path(unquote(urlsplit(place).path))).is_dir():
            yield path


def _wheels(folder: Path, tags: set[Tag]) -> Iterator[tuple[str, Version, bool]]:
    for path in sorted(folder.glob("torch-*.whl")):
        try:
            name, version, _, built_for = parse_wheel_filename(path.name)
        except InvalidWheelFilename:
            continue
        yield str(name), version, not tags.isdisjoint(built_for)
