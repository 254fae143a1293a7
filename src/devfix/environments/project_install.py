"""Install a project into an environment so that its sources stay where they are, and nothing is written beside them.

Build back ends write into the folder that they build, so that they get a copy. Of the wheel only the metadata and the
scripts are installed, with the folders of the sources on the path.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from devfix.environments.declared.setup_files import read_setup_py
from devfix.environments.declared.static_metadata import UNKNOWN, read_static_metadata, source_folders
from devfix.environments.declared.texts import read_text, read_toml, table
from devfix.environments.explanation import last_error
from devfix.environments.metadata_wheel import add_paths, write_metadata_wheel
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
_VERSION = (("SETUPTOOLS_SCM_PRETEND_VERSION", UNKNOWN), ("PBR_VERSION", UNKNOWN))


def project_digest(folder: Path) -> str:
    """Return a digest of the files that say how a project is installed, and of where it is."""
    texts = [str(folder.resolve()), *(read_text(folder / name) for name in _DECLARING)]
    return hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True)
class UnbuiltProject:
    """A project as it is installed without being built: by a wheel of its metadata, or by its sources on the path.

    `note` says what is missing, and with `needs_build` a build gives more.
    """

    name: str
    wheel: Path | None
    sources: tuple[Path, ...]
    note: str = ""
    needs_build: bool = False


def prepare_unbuilt(folder: Path, scratch: Path) -> UnbuiltProject:
    """Return how a project is installed by what its files state, without running anything of it."""
    sources = tuple(source_folders(folder))
    why = _why_not_built(folder)
    if why is not None:
        return UnbuiltProject("", None, sources, why)
    metadata = read_static_metadata(folder)
    if metadata is None:
        note = f"{folder.name} is not installed, since its metadata is computed: its sources are on the path"
        return UnbuiltProject("", None, sources, note, True)
    path = scratch / "projects" / f"{metadata.stem}-py3-none-any.whl"
    wheel = write_metadata_wheel(path, f"{metadata.stem}.dist-info", metadata.files(), sources)
    note = (
        f"the version of {metadata.name} is computed: {UNKNOWN} stands for it" if metadata.is_version_computed else ""
    )
    # A build for the version alone would be paid with downloads of all packages, where caches cannot be shared.
    return UnbuiltProject(canonicalize_name(metadata.name), wheel, sources, note)


def install_project(folder: Path, python: Path, uv: Uv) -> str:
    """Install a project, or else put its sources on the path; return a note on why it is not installed, or ""."""
    why = _why_not_built(folder)
    if why is None:
        with temporary_folder("project") as scratch:
            why = _install(folder, python, uv, scratch)
    if why is not None:
        add_paths(python.parent.parent, [_usual_sources(folder)])
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
    linked = write_metadata_wheel(scratch / "linked" / built.name, *_metadata_of(built), sources)
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


def _metadata_of(wheel: Path) -> tuple[str, dict[str, bytes]]:
    """Return the folder `.dist-info` of a wheel, and the files in it without its list of files."""
    with zipfile.ZipFile(wheel) as built:
        names = [name for name in built.namelist() if ".dist-info/" in name and not name.endswith("/RECORD")]
        info = names[0].partition("/")[0]
        return info, {name.partition("/")[2]: built.read(name) for name in names}


def _usual_sources(folder: Path) -> Path:
    return folder / "src" if (folder / "src").is_dir() else folder
