"""Install a project into an environment so that its sources stay where they are, and nothing is written beside them.

Build back ends write into the folder that they build, so that they get a copy. Of the wheel only the metadata and the
scripts are installed, with the folders of the sources on the path.
"""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

from devfix.environments.explanation import last_error
from devfix.environments.setup_files import read_setup_py
from devfix.environments.texts import read_text, read_toml, table
from devfix.environments.uv import Uv, error_text
from devfix.process.tempdirs import temporary_folder

_LARGEST = 2_000_000  # bytes of a file that is copied: larger ones are data
_MOST = 20_000  # files
_PURE = (
    "setuptools",
    "hatchling",
    "flit_core",
    "flit",
    "poetry",
    "poetry_dynamic_versioning",
    "pdm",
    "uv_build",
    "pbr",
)
_DECLARING = ("pyproject.toml", "setup.py", "setup.cfg")
# Without the history of the repository, which is not copied.
_VERSION = (("SETUPTOOLS_SCM_PRETEND_VERSION", "0.0.0"), ("PBR_VERSION", "0.0.0"))
_PATH_FILE = "devfix_sources.pth"


def project_digest(folder: Path) -> str:
    """Return a digest of the files that say how a project is installed, and of where it is."""
    texts = [str(folder.resolve()), *(read_text(folder / name) for name in _DECLARING)]
    return hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()


def install_project(folder: Path, python: Path, uv: Uv) -> str:
    """Install a project, or else put its sources on the path; return a note on why it is not installed, or ""."""
    why = _why_not_built(folder)
    if why is None:
        with temporary_folder("project") as scratch:
            why = _install(folder, python, uv, scratch)
    if why is not None:
        _add_paths(python, uv, [_usual_sources(folder)])
    return why or ""


def _why_not_built(folder: Path) -> str | None:
    """Return why a project is not built: "" if there is nothing to build, None if it is."""
    data = read_toml(folder / "pyproject.toml")
    # Many a setup.cfg has nothing but the settings of linters.
    has_setup = (folder / "setup.py").is_file() or "[metadata]" in read_text(folder / "setup.cfg")
    if table(data, "tool", "uv").get("package") is False or table(data, "tool", "poetry").get("package-mode") is False:
        return ""
    if not table(data, "build-system") and not has_setup:
        return ""
    backend = str(table(data, "build-system").get("build-backend", "setuptools.build_meta"))
    compiles = (folder / "setup.py").is_file() and read_setup_py(folder).compiles
    if compiles or table(data, "tool", "poetry").get("build"):
        return f"{folder.name} is not installed, since it has to be compiled: its sources are on the path"
    if backend.split(".")[0] not in _PURE:
        return f"{folder.name} is not installed, since {backend} may compile: its sources are on the path"
    return None


def _install(folder: Path, python: Path, uv: Uv, scratch: Path) -> str | None:
    copy, wheels = scratch / folder.name, scratch / "wheels"
    files = list(_copy(folder, copy))
    done = uv.run(
        *("build", "--quiet", "--wheel", "--out-dir", str(wheels), "--python", str(python), str(copy)),
        variables=_VERSION,
    )
    built = next(iter(wheels.glob("*.whl")), None) if done.exit_code == 0 else None
    if built is None:
        reason = last_error(error_text(done))
        return f"{folder.name} is not installed, since its build fails ({reason}): its sources are on the path"
    if not built.name.endswith("-none-any.whl"):
        return f"{folder.name} is not installed, since it has to be compiled: its sources are on the path"
    sources = [folder / each for each in _source_folders(built, files)] or [_usual_sources(folder)]
    linked = _metadata_wheel(built, sources, scratch)
    done = uv.run("pip", "install", "--quiet", "--no-deps", "--no-index", "--python", str(python), str(linked))
    return None if done.exit_code == 0 else f"{folder.name} is not installed ({last_error(error_text(done))})"


def _copy(folder: Path, target: Path) -> Iterator[str]:
    """Copy the sources of a project and yield their paths; environments, hidden folders and data are left out."""
    count = 0
    for top, below, names in os.walk(folder):
        inner = Path(top).relative_to(folder)
        below[:] = sorted(
            name
            for name in below
            if not name.startswith(".")
            and name not in ("__pycache__", "node_modules", "build", "dist")
            and not name.endswith(".egg-info")
            and not os.path.exists(os.path.join(top, name, "pyvenv.cfg"))
        )
        (target / inner).mkdir(parents=True, exist_ok=True)
        for name in sorted(names):
            source = Path(top) / name
            if count < _MOST and source.is_file() and source.stat().st_size <= _LARGEST:
                count += 1
                shutil.copyfile(source, target / inner / name)
                yield (inner / name).as_posix()


def _source_folders(wheel: Path, files: list[str]) -> list[str]:
    """Return the folders of the project from which the modules of its wheel come, such as "src"."""
    found: dict[str, None] = {}
    with zipfile.ZipFile(wheel) as archive:
        modules = [name for name in archive.namelist() if name.endswith(".py") and ".dist-info/" not in name]
    for module in modules:
        ends = [path.removesuffix(module) for path in files if path == module or path.endswith(f"/{module}")]
        if ends:
            found[min(ends, key=len)] = None
    return list(found)


def _metadata_wheel(wheel: Path, sources: list[Path], scratch: Path) -> Path:
    """Write a wheel with the metadata of another one, and a file that puts `sources` on the path."""
    folder = scratch / "linked"
    folder.mkdir()
    linked = folder / wheel.name
    with zipfile.ZipFile(wheel) as built, zipfile.ZipFile(linked, "w") as archive:
        names = [name for name in built.namelist() if ".dist-info/" in name and not name.endswith("/RECORD")]
        contents = {name: built.read(name) for name in names}
        info = names[0].partition("/")[0]
        contents[f"{info.removesuffix('.dist-info')}.pth"] = "".join(f"{path}\n" for path in sources).encode()
        rows = [_record(name, data) for name, data in contents.items()]
        contents[f"{info}/RECORD"] = "".join(f"{row}\n" for row in [*rows, f"{info}/RECORD,,"]).encode()
        for name, data in contents.items():
            archive.writestr(name, data)
    return linked


def _record(name: str, data: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}"


def _usual_sources(folder: Path) -> Path:
    return folder / "src" if (folder / "src").is_dir() else folder


def _add_paths(python: Path, uv: Uv, sources: list[Path]) -> None:
    for site in python.parent.parent.glob("lib/python*/site-packages"):
        with (site / _PATH_FILE).open("a", encoding="utf-8") as file:
            file.writelines(f"{path}\n" for path in sources)
