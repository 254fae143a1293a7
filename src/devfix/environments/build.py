"""Build an environment in the user's cache folder, once for each resolution, whoever asks for it at the same time."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_cache_path

from devfix.environments.declaration import Declaration, read_declaration
from devfix.environments.explanation import LeftOut, explain_conflict, find_left_out
from devfix.environments.indexes import index_lines
from devfix.environments.project_install import install_project, project_digest
from devfix.environments.pythons import ChosenPython, choose_python
from devfix.environments.request import EnvironmentRequest
from devfix.environments.requirement import hide_credentials
from devfix.environments.resolution import Resolution, ResolutionError, Resolver, index_strategy
from devfix.environments.uv import Uv, error_text
from devfix.errors import UserError
from devfix.process.tempdirs import remove, temporary_folder

FOLDER = "environments"
_READY = "devfix.json"  # written last, so that a folder without it is one whose builder was killed


@dataclass(frozen=True)
class Environment:
    """An environment that is ready: its interpreter, and the version of that ("3.11.7").

    `files` are those that declare it, `packages` the installed lines ("numpy==2.4.6"), `left_out` what it lacks;
    `notes` say what else was not followed. `reused`: it was there before.
    """

    python: Path
    version: str
    files: tuple[str, ...]
    packages: tuple[str, ...]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]
    reused: bool
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
    uv = Uv(declaration.folder)
    python = choose_python(declaration, uv)
    with temporary_folder("resolution") as scratch:
        step(f"resolving {', '.join(declaration.files or request.packages)}")
        resolver = Resolver(uv, declaration, request, python, index_lines(), scratch)
        built = _Builder(uv, declaration, python, resolver, scratch, step).build()
    alone = f"no file declares what the program needs: {', '.join(request.packages)} and no more is installed"
    notes = [
        *(() if declaration.files else (alone,)),
        *declaration.notes,
        python.note,
        *built.resolution.dropped,
        *resolver.notes,
        *built.notes,
    ]
    return Environment(
        built.python,
        python.version,
        tuple(declaration.files),
        tuple(hide_credentials(line) for line in built.resolution.lines),
        tuple(map(str, built.resolution.left_out)),
        tuple(filter(None, notes)),
        built.reused,
        round(time.monotonic() - began, 3),
    )


def clear_environments() -> int:
    """Remove every environment and return how many there were; one that is being built is waited for."""
    count = 0
    for folder in sorted(_home().glob("*/")):
        with _locked(folder):
            remove(folder)
            count += 1
    return count


@dataclass(frozen=True)
class _Built:
    python: Path
    resolution: Resolution
    notes: tuple[str, ...]
    reused: bool


@dataclass
class _Builder:
    uv: Uv
    declaration: Declaration
    python: ChosenPython
    resolver: Resolver
    scratch: Path
    step: Callable[[str], None]

    def build(self) -> _Built:
        """Resolve and install; a package that cannot be built is left out, and the rest resolved again."""
        while True:
            resolution = self.resolver.resolve()
            projects = tuple(dict.fromkeys([*resolution.folders, self.declaration.folder.resolve()]))
            folder = _home() / self._key(resolution, projects)
            with _locked(folder):
                notes = _read_ready(folder)
                if notes is not None:
                    os.utime(folder / _READY)
                    return _Built(_python_in(folder), resolution, notes, True)
                remove(folder)
                found = self._install(folder, resolution)
                if found is None:
                    texts = tuple(
                        filter(None, (install_project(each, _python_in(folder), self.uv) for each in projects))
                    )
                    (folder / _READY).write_text(json.dumps(texts), "utf-8")
                    return _Built(_python_in(folder), resolution, texts, False)
                remove(folder)
            if not self.resolver.leave_out(found):
                raise UserError(str(found))

    def _key(self, resolution: Resolution, projects: tuple[Path, ...]) -> str:
        facts = [resolution.digest(self.python), *map(project_digest, projects)]
        return hashlib.sha256("".join(facts).encode()).hexdigest()[:24]

    def _install(self, folder: Path, resolution: Resolution) -> LeftOut | None:
        """Install the packages into a new folder; return the one that cannot be, if any."""
        count = len(resolution.installable)
        self.step(f"installing {count} package{'s' if count != 1 else ''} for Python {self.python.version}")
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        done = self.uv.run("venv", "--quiet", "--no-project", "--python", str(self.python.path), str(folder))
        if done.exit_code != 0:
            raise UserError(f"{self.python.path} cannot make an environment: {error_text(done).splitlines()[0]}")
        if not resolution.installable:
            return None
        lines = self.scratch / "resolved.txt"
        lines.write_text("".join(f"{line}\n" for line in [*self.resolver.index_options, *resolution.installable]))
        done = self.uv.run(
            *("pip", "install", "--quiet", "--no-deps", "--python", str(_python_in(folder))),
            *("--requirements", str(lines)),
            *index_strategy(self.resolver.index_options),
            *(("--torch-backend", resolution.torch) if resolution.torch else ()),
        )
        if done.exit_code == 0:
            return None
        text, declared = error_text(done), self.resolver.declared()
        found = find_left_out(text, declared)
        if found is None:
            raise ResolutionError(f"the environment cannot be installed: {explain_conflict(text, declared)}", text)
        return found


def _home() -> Path:
    return Path(user_cache_path("devfix", appauthor=False)) / FOLDER


def _python_in(folder: Path) -> Path:
    return folder / "bin" / "python"


def _read_ready(folder: Path) -> tuple[str, ...] | None:
    """Return the notes of an environment that was built to the end; None if there is none."""
    try:
        listed = json.loads((folder / _READY).read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return tuple(map(str, listed)) if isinstance(listed, list) and _python_in(folder).exists() else None


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other builders of the same folder waiting; the lock of a killed one is free."""
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(folder.with_name(f"{folder.name}.lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
