"""Resolve what a repository declares to exact releases, with `uv pip compile`."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from devfix.environments.cpu_wheels import cpu_release
from devfix.environments.declared.declaration import Declaration
from devfix.environments.declared.lock_files import Pins
from devfix.environments.declared.requirement import DeclaredRequirement, Part, name_in
from devfix.environments.explanation import (
    NOT_FETCHED,
    LeftOut,
    explain_conflict,
    find_left_out,
    is_unreachable,
    unreachable,
)
from devfix.environments.pythons import ChosenPython
from devfix.environments.request import CPU, ORDINARY, EnvironmentRequest
from devfix.environments.uv import Uv, error_text
from devfix.errors import UserError
from devfix.process import Completed

_MOST_LEFT_OUT = 20
_TORCH = ("torch", "torchvision", "torchaudio")  # `tool.uv.sources` names the index of their CUDA builds, as a rule
_LOCAL = re.compile(r"(?:-e\s+|[\w.\-\[\],]+\s*@\s*)?(?:file://)?(/[^;#\[]*)")
# A local project without a build system: uv resolves what it needs, and names it without a release.
_VIRTUAL = re.compile(r"[\w.-]+")


class ResolutionError(UserError):
    """The declared requirements have no solution; `details` is what uv reports."""

    def __init__(self, message: str, details: str) -> None:
        """Keep the line and the whole text."""
        super().__init__(message)
        self.details = details


class UnreachableIndexError(ResolutionError):
    """A package index does not answer, so that no other attempt would say more."""


@dataclass(frozen=True)
class Resolution:
    """Exact releases, as lines for uv, and the build of torch with which they were found ("" for the ordinary one).

    `left_out` are packages without which it was found, `dropped` says what else was not followed, and why.
    """

    lines: tuple[str, ...]
    torch: str
    left_out: tuple[LeftOut, ...] = ()
    dropped: tuple[str, ...] = ()

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders of sources among the lines: members of a workspace, and other projects of the machine."""
        found = (Path(match[1].strip()) for line in self.lines if (match := _LOCAL.match(line)))
        return tuple(dict.fromkeys(path for path in found if path.is_dir()))

    @property
    def installable(self) -> tuple[str, ...]:
        """The lines without those folders."""
        return tuple(line for line in self.lines if not ((m := _LOCAL.match(line)) and Path(m[1].strip()).is_dir()))

    def digest(self, python: ChosenPython) -> str:
        """Return a digest of all that the installed files depend on."""
        facts = [sorted(self.lines), self.torch, str(python.path.resolve()), python.version, sys.platform]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


@dataclass
class Resolver:
    """Resolves a declaration for an interpreter; files for uv are written into the folder `scratch`.

    `excluded` grows by each package that no index has, or that cannot be built. `torch_release` is a constraint that
    stands for an index of builds of torch which is out of reach; `unpinned` are lines of the lock that do not hold.
    `needs_build`: builds are off, and would give more. `is_lasting`: no answer of an index was missing.
    """

    uv: Uv
    declaration: Declaration
    request: EnvironmentRequest
    python: ChosenPython
    index_lines: Sequence[str]
    scratch: Path
    excluded: dict[str, LeftOut] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    torch_release: str = ""
    needs_build: bool = False
    is_lasting: bool = True
    unpinned: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.torch = self._backend()
        self._chooses_build = bool(self.torch)

    def resolve(self) -> Resolution:
        """Return exact releases for everything that is declared, or for as much as can be resolved together.

        The lock is given up first, then optional parts. Raises ResolutionError if the main part has no solution.
        """
        self.dropped = []
        pins, optional = self.declaration.pins, self.declaration.optional
        try:
            return self._compile(pins, optional)
        except ResolutionError as error:
            if isinstance(error, UnreachableIndexError) or (not pins.name and not optional):
                raise
        base = self._try_main(pins)
        kept: list[Part] = []
        for part in optional:
            try:
                self._compile(base, [*kept, part])
            except ResolutionError as error:
                self.dropped.append(f"{part.title} is left out: {error}")
            else:
                kept.append(part)
        return self._compile(base, kept)

    def _try_main(self, pins: Pins) -> Pins:
        """Return the pins with which the main part can be resolved: those of the lock, or none."""
        try:
            self._compile(pins, ())
        except ResolutionError as error:
            if not pins.name:
                raise
            self._compile(Pins(), ())
            self.dropped.append(f"{pins.name} is not followed: {error}")
            return Pins()
        return pins

    def leave_out(self, found: LeftOut) -> bool:
        """Leave a package out from now on; return False if that was tried, or if too many are.

        Of one that the lock pins another release is tried first: the pinned one may have no wheel for this Python.
        """
        pin = next((text for text in self.declaration.pins.constraints if name_in(text) == found.name), "")
        self.needs_build = self.needs_build or found.needs_build
        self.is_lasting = self.is_lasting and found.reason != NOT_FETCHED
        if pin and pin not in self.unpinned:
            self.unpinned.append(pin)
            self.notes.append(f"{self.declaration.pins.name} is not followed for {pin}: {found.reason}")
            return True
        if found.name in self.excluded or len(self.excluded) >= _MOST_LEFT_OUT:
            return False
        self.excluded[found.name] = found
        return True

    def _compile(self, pins: Pins, optional: Sequence[Part]) -> Resolution:
        while True:
            done = self._run(pins, optional, self.torch)
            if done.exit_code == 0:
                lines = tuple(line.strip() for line in done.stdout.splitlines() if line.strip())
                kept = tuple(line for line in lines if not line.startswith(("#", "--")))
                if any(map(_VIRTUAL.fullmatch, kept)):
                    self.is_lasting = False  # the requirements of these projects are in other files
                    kept = tuple(line for line in kept if not _VIRTUAL.fullmatch(line))
                return Resolution(kept, self.torch, tuple(self.excluded.values()), tuple(self.dropped))
            text = error_text(done)
            if self.torch and self._is_ordinary_enough(text, pins, optional):
                continue
            if is_unreachable(text):
                raise UnreachableIndexError(f"a package index does not answer ({unreachable(text)})", text)
            found = find_left_out(text, self.declared_requirements(pins))
            if found is None or not self.leave_out(found):
                raise ResolutionError(explain_conflict(text, self.declared_requirements(pins)), text)

    def _is_ordinary_enough(self, text: str, pins: Pins, optional: Sequence[Part]) -> bool:
        """Return whether the ordinary index has a solution where that of the build of torch has none; use it then."""
        if not is_unreachable(text) and find_left_out(text, self.declared_requirements(pins)) is not None:
            return False
        if not is_unreachable(text) and self._run(pins, optional, "").exit_code != 0:
            return False
        self.is_lasting = self.is_lasting and not is_unreachable(text)
        why = "cannot be reached" if is_unreachable(text) else "has no solution"
        self.notes.append(f"the index of {self.torch} builds of torch {why}: the other indexes decide on the build")
        wheel = cpu_release(self.index_options, self.python.version) if self.torch == CPU else ""
        self.torch = ""
        if wheel:
            self.torch_release = wheel
            if self._run(pins, optional, "").exit_code != 0:
                self.torch_release = ""
        return True

    def declared_requirements(self, pins: Pins | None = None) -> list[DeclaredRequirement]:
        """Return every requirement, with those of devfix and of the lock."""
        ours = [DeclaredRequirement(text, "devfix") for text in self.request.packages]
        locked = [DeclaredRequirement(text, pins.name) for text in pins.constraints] if pins else []
        return [*self.declaration.requirements, *self.declaration.constraints, *ours, *locked]

    def _run(self, pins: Pins, optional: Sequence[Part], torch: str) -> Completed:
        declaration = self.declaration
        parts = [declaration.main, *optional]
        # uv reads pyproject.toml itself, whose dependencies may need its table `tool.uv`.
        is_read_by_uv = declaration.main.title in {source.name for source in declaration.sources}
        written = [part for part in parts if not part.options and not (is_read_by_uv and part is declaration.main)]
        lines = [each.text for part in written for each in part.requirements]
        options = [option for part in optional for option in part.options]
        overrides = [*pins.overrides, *(self._public_releases() if self._chooses_build else ())]
        constraints = [text for text in pins.constraints if text not in self.unpinned]
        constraints += [*(each.text for each in declaration.constraints)]
        constraints += filter(None, [self.torch_release])
        files = [
            self._write("requirements.in", [*self.index_options, *lines, *self.request.packages]),
            *(("--constraints", self._write("constraints.txt", constraints)) if constraints else ()),
            *(("--overrides", self._write("overrides.txt", overrides)) if overrides else ()),
            *(("--excludes", self._write("excludes.txt", list(self.excluded))) if self.excluded else ()),
        ]
        named = [part for each in files for part in ([each] if isinstance(each, str) else each)]
        return self.uv.run(
            *("pip", "compile", "--quiet", "--no-header", "--no-annotate", "--python", str(self.python.path)),
            *(str(source) for source in declaration.sources),
            *named,
            *options,
            *index_strategy(self.index_options),
            *(("--torch-backend", torch) if torch else ()),
            *self.uv.only_wheels,
            *(("--refresh",) if self.request.refresh else ()),
            *(word for name in (_TORCH if self._chooses_build else ()) for word in ("--no-sources-package", name)),
        )

    @property
    def index_options(self) -> list[str]:
        """The lines for indexes: those of the user, then those of the repository."""
        return [*self.index_lines, *self.declaration.index_options]

    def _public_releases(self) -> Iterator[str]:
        """Yield an override for each release that is declared with another build ("torch==2.7.1+cu126")."""
        for each in self.declaration.requirements:
            pinned = [part for part in (each.parsed.specifier if each.parsed else ()) if part.operator == "=="]
            if len(pinned) == 1 and "+" in pinned[0].version:
                yield f"{each.name}=={pinned[0].version.partition('+')[0]}"

    def _backend(self) -> str:
        if self.request.torch:
            return "" if self.request.torch == ORDINARY else self.request.torch
        if os.environ.get("UV_TORCH_BACKEND"):
            return ""  # uv reads it
        return CPU if sys.platform == "linux" else ""

    def _write(self, name: str, lines: Sequence[str]) -> str:
        path = self.scratch / name
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        return str(path)


def index_strategy(index_options: Sequence[str]) -> tuple[str, ...]:
    """Return the option with which several indexes count as they do for pip, for which they were written."""
    if not index_options or os.environ.get("UV_INDEX_STRATEGY"):
        return ()
    return ("--index-strategy", "unsafe-best-match")
