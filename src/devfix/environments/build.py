"""Build an environment in the user's cache folder, once for each resolution, whoever asks for it at the same time."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import msgspec
from platformdirs import user_cache_path

from devfix.decoding import decode_json
from devfix.environments.declared.declaration import read_declaration
from devfix.environments.declared.requirement import hide_credentials, name_in
from devfix.environments.explanation import LeftOut, explain_conflict, find_left_out
from devfix.environments.indexes import index_lines
from devfix.environments.metadata_wheel import add_paths
from devfix.environments.project_install import install_project, prepare_unbuilt, project_digest
from devfix.environments.pythons import ChosenPython, choose_python
from devfix.environments.request import EnvironmentRequest
from devfix.environments.resolution import Resolution, ResolutionError, Resolver, index_strategy
from devfix.environments.stored_resolutions import (
    clear_resolutions,
    load_resolution,
    resolution_key,
    store_resolution,
)
from devfix.environments.uv import Uv, error_text
from devfix.environments.wheels_only import WheelsOnly, restrict_to_wheels
from devfix.errors import UserError
from devfix.process.tempdirs import remove, temporary_folder

FOLDER = "environments"
_READY = "devfix.json"  # written last, so that a folder without it is one whose builder was killed


@dataclass(frozen=True)
class Environment:
    """An environment that is ready: its interpreter, and the version of that ("3.11.7").

    `files` are those that declare it, `packages` the installed lines ("numpy==2.4.6"), `left_out` what it lacks;
    `notes` say what else was not followed. `needs_build`: where builds are off, they would give more. `reused`: it was
    there before. `resolution_age`: seconds since the indexes were asked.
    """

    python: Path
    version: str
    files: tuple[str, ...]
    packages: tuple[str, ...]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]
    needs_build: bool
    reused: bool
    resolution_age: int
    seconds: float


def build_environment(
    root: Path, subfolder: str, request: EnvironmentRequest, step: Callable[[str], None]
) -> Environment:
    """Return the environment that the repository at `root` declares for a folder, built where it is not there yet.

    `step` is told what is done. Raises UserError, in one line, if it cannot be resolved or built.
    """
    began = time.monotonic()
    declaration = read_declaration(root, subfolder)
    if not declaration.files and not request.packages:
        raise UserError(f"{root / subfolder}: nothing declares what it needs (pyproject.toml, requirements.txt, …)")
    with temporary_folder("resolution") as scratch:
        uv = Uv(declaration.folder) if request.builds else Uv(scratch, builds=False)
        python = choose_python(declaration, uv)
        step(f"resolving {', '.join(declaration.files or request.packages)}")
        asked = WheelsOnly(declaration, request.packages)
        if not request.builds:
            asked = restrict_to_wheels(declaration, root, request.packages)
        resolver = Resolver(
            *(uv, asked.declaration, replace(request, packages=asked.packages), python, index_lines(), scratch),
            excluded=dict(asked.left_out),
            needs_build=asked.needs_build,
        )
        projects = (*asked.folders, declaration.folder.resolve())
        built = _Builder(uv, projects, python, resolver, scratch, step).build()
    alone = f"no file declares what the program needs: {', '.join(request.packages)} and no more is installed"
    notes = [
        *(() if declaration.files else (alone,)),
        *asked.declaration.notes,
        python.note,
        *built.resolution.dropped,
        *resolver.notes,
        *built.installed.notes,
    ]
    return Environment(
        built.python,
        python.version,
        tuple(declaration.files),
        tuple(hide_credentials(line) for line in built.resolution.lines),
        tuple(map(str, built.resolution.left_out)),
        tuple(filter(None, notes)),
        built.installed.needs_build or resolver.needs_build,
        built.reused,
        built.age,
        round(time.monotonic() - began, 3),
    )


def clear_environments() -> int:
    """Remove every environment and every resolution, and return how many environments there were.

    One that is being built is waited for.
    """
    count = 0
    for folder in sorted(_home().glob("*/")):
        with _lock(folder):
            remove(folder)
            count += 1
    clear_resolutions()
    return count


@dataclass(frozen=True)
class _Installed:
    """Facts about the projects of an environment, which are written into it."""

    notes: tuple[str, ...] = ()
    needs_build: bool = False


@dataclass(frozen=True)
class _Built:
    python: Path
    resolution: Resolution
    installed: _Installed
    reused: bool
    age: int


@dataclass
class _Builder:
    uv: Uv
    projects: tuple[Path, ...]
    python: ChosenPython
    resolver: Resolver
    scratch: Path
    step: Callable[[str], None]

    def build(self) -> _Built:
        """Resolve and install; a package that cannot be built is left out, and the rest resolved again."""
        key = resolution_key(self.resolver)
        stored = None if self.resolver.request.refresh else load_resolution(key)
        if stored is not None:
            done = self._prepare(stored.restore(self.resolver), stored.age)
        else:
            done = self._prepare(self.resolver.resolve())
        while isinstance(done, LeftOut):
            stored = None
            if not self.resolver.leave_out(done):
                raise UserError(str(done))
            done = self._prepare(self.resolver.resolve())
        if stored is None:
            store_resolution(key, done.resolution, self.resolver)
        return done

    def _prepare(self, resolution: Resolution, age: int = 0) -> _Built | LeftOut:
        """Return the environment of a resolution, built where it is not there yet, or the package that prevents it."""
        named = () if self.uv.only_wheels else resolution.folders
        projects = tuple(dict.fromkeys([*named, *self.projects]))
        folder = _home() / self._key(resolution, projects)
        with _lock(folder):
            installed = _read_ready(folder)
            if installed is not None:
                os.utime(folder / _READY)
                return _Built(_python_in(folder), resolution, installed, True, age)
            remove(folder)
            done = self._install_all(folder, resolution, projects)
            if isinstance(done, LeftOut):
                remove(folder)
                return done
            (folder / _READY).write_text(json.dumps(asdict(done)), "utf-8")
            return _Built(_python_in(folder), resolution, done, False, age)

    def _key(self, resolution: Resolution, projects: tuple[Path, ...]) -> str:
        facts = [resolution.digest(self.python), *map(project_digest, projects), *self.uv.only_wheels]
        return hashlib.sha256("".join(facts).encode()).hexdigest()[:24]

    def _install_all(self, folder: Path, resolution: Resolution, projects: Sequence[Path]) -> _Installed | LeftOut:
        """Install the packages and the projects into a new folder; return the package that cannot be, if any."""
        if self.uv.only_wheels:
            return self._install_unbuilt(folder, resolution, projects)
        found = self._install(folder, resolution.installable)
        notes = (install_project(each, _python_in(folder), self.uv) for each in projects) if found is None else ()
        return found or _Installed(tuple(filter(None, notes)))

    def _install_unbuilt(self, folder: Path, resolution: Resolution, projects: Sequence[Path]) -> _Installed | LeftOut:
        """Install wheels, those of the projects' metadata among them, all at once.

        A second call would start the interpreter of the environment, and with it what the packages add to its start.
        """
        unbuilt = [prepare_unbuilt(each, self.scratch) for each in projects]
        names = {each.name for each in unbuilt if each.wheel}
        lines = [line for line in resolution.installable if name_in(line) not in names]
        found = self._install(folder, [*lines, *(str(each.wheel) for each in unbuilt if each.wheel)])
        if found is not None:
            return found
        add_paths(folder, [path for each in unbuilt if not each.wheel for path in each.sources])
        notes = tuple(each.note for each in unbuilt if each.note)
        return _Installed(notes, any(each.needs_build for each in unbuilt))

    def _install(self, folder: Path, installable: Sequence[str]) -> LeftOut | None:
        """Install lines into a new folder; return the package that cannot be, if any."""
        count = len(installable)
        self.step(f"installing {count} package{'s' if count != 1 else ''} for Python {self.python.version}")
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        done = self.uv.run("venv", "--quiet", "--no-project", "--python", str(self.python.path), str(folder))
        if done.exit_code != 0:
            raise UserError(f"{self.python.path} cannot make an environment: {error_text(done).splitlines()[0]}")
        if not installable:
            return None
        lines = self.scratch / "resolved.txt"
        lines.write_text("".join(f"{line}\n" for line in [*self.resolver.index_options, *installable]))
        done = self.uv.run(
            *("pip", "install", "--quiet", "--no-deps", "--python", str(_python_in(folder))),
            *("--requirements", str(lines)),
            *index_strategy(self.resolver.index_options),
            *(("--torch-backend", self.resolver.torch) if self.resolver.torch else ()),
            *self.uv.only_wheels,
        )
        if done.exit_code == 0:
            return None
        text, declared = error_text(done), self.resolver.declared_requirements()
        found = find_left_out(text, declared)
        if found is None:
            raise ResolutionError(f"the environment cannot be installed: {explain_conflict(text, declared)}", text)
        return found


def _home() -> Path:
    return Path(user_cache_path("devfix", appauthor=False)) / FOLDER


def _python_in(folder: Path) -> Path:
    return folder / "bin" / "python"


def _read_ready(folder: Path) -> _Installed | None:
    """Return what is said of an environment that was built to the end; None if there is none."""
    try:
        installed = decode_json((folder / _READY).read_bytes(), _Installed)
    except (OSError, msgspec.MsgspecError):
        return None
    return installed if _python_in(folder).exists() else None


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Keep other builders of the same folder waiting; the lock of a killed one is free."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder.with_name(f"{folder.name}.lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
