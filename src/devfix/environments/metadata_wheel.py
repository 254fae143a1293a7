"""A wheel of metadata alone, with a file that puts the sources of a project on the path."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

_PATH_FILE = "devfix_sources.pth"


def write_metadata_wheel(path: Path, info: str, metadata: Mapping[str, bytes], sources: Iterable[Path]) -> Path:
    """Write a wheel with the files of a folder `.dist-info`, by their names in it, for sources that stay in place."""
    contents = {f"{info}/{name}": data for name, data in metadata.items()}
    contents[f"{info.removesuffix('.dist-info')}.pth"] = path_lines(sources).encode()
    rows = [_record(name, data) for name, data in contents.items()]
    contents[f"{info}/RECORD"] = "".join(f"{row}\n" for row in [*rows, f"{info}/RECORD,,"]).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return path


def add_paths(environment: Path, sources: Iterable[Path]) -> None:
    """Put folders on the path of an environment."""
    for site in environment.glob("lib/python*/site-packages"):
        with (site / _PATH_FILE).open("a", encoding="utf-8") as file:
            file.write(path_lines(sources))


def path_lines(sources: Iterable[Path]) -> str:
    """Return the lines of a `.pth` file. A folder with a line end in its name is left out: Python runs such lines."""
    return "".join(f"{path}\n" for path in sources if len(str(path).splitlines()) == 1)


def _record(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"
