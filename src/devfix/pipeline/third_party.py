"""Find the installed distribution that causes a failure, and a release of it that does not.

The distribution's files are treated as owned, and what the rules propose for them is tried on a patched copy that is
overlaid on the installed one.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from devfix.dependencies import (
    Distribution,
    distribution_of,
    import_path,
    install,
    laid_over,
    new_conflict,
    pin_version,
    releases,
)
from devfix.diagnosis.diagnose import diagnose
from devfix.diagnosis.propose import propose
from devfix.execution import SEED
from devfix.model import CountRequest, DependencyFault, Event, Failure, Operand, Outcome, Run, SourceLocation, World
from devfix.pipeline.opening.session import Session
from devfix.registry import Rule
from devfix.sdk import Sources
from devfix.sdk.trace.sites import locations_without_scope
from devfix.verification.candidate import CandidateResult
from devfix.verification.checks.stdout import last_line
from devfix.verification.verifier import Verifier

RELEASES = 24  # at most, newest first


def find_dependency_fault(
    session: Session, run: Run, rules: Sequence[Rule], find_working_version: bool
) -> DependencyFault | None:
    """Return the distribution at fault, verified by a change to a copy of it that gets the program further."""
    for distribution in suspected_distributions(run.failure):
        session.progress(f"looking into {distribution.name} {distribution.version}")
        candidate = PatchedDistribution(session, distribution).first_fix(run, rules)
        if candidate is None:
            continue
        edit = candidate.patch.edits[0]
        found = DependencyFault(
            distribution.name,
            distribution.version,
            edit.path,
            edit.line,
            candidate.patch.reason,
            session.diff_of(candidate.patch),
        )
        return _with_pin(session, found, run.world) if find_working_version else found
    return None


def suspected_distributions(failure: Failure | None) -> list[Distribution]:
    """Return the distributions that created the operands or that failed, except torch; those of creations first."""
    if failure is None:
        return []
    creations = [place for operand in failure.operands for event in operand.history for place in event.places[:1]]
    paths = [
        place.path for place in (*creations, *(frame.place for frame in reversed(failure.frames))) if not place.owned
    ]
    found = (distribution_of(path) for path in dict.fromkeys(paths))
    unique = {each.name: each for each in found if each is not None and each.package not in ("torch", "functorch")}
    return list(unique.values())


class PatchedDistribution:
    """An installed distribution as an editable copy, overlaid on the installed one for each run."""

    def __init__(self, session: Session, distribution: Distribution) -> None:
        self.session, self.distribution = session, distribution

    def first_fix(self, run: Run, rules: Sequence[Rule]) -> CandidateResult | None:
        """Return the first change to the distribution that is verified in the world that failed."""
        run = self._relocate_run(run, ())
        if run.failure is None:
            return None
        watch = self._locate_installed(list(locations_without_scope(run.failure)))
        again = self.session.observer.run(run.world, self.session.files, watch=watch, fresh=False)
        again = self._relocate_run(again, ())
        failure = replace(run.failure, scopes=again.watched)
        run = replace(run, failure=failure)
        sources = Sources(self._read)
        diagnoses = diagnose(failure, rules, sources)
        patches = propose(diagnoses, {rule.id: rule for rule in rules}, sources)
        seeded = partial(self._run, seed=SEED)
        verifier = Verifier(self._run, run, {}, [run.world], lambda world: run, seeded=seeded)
        return verifier.select_best(patches, diagnoses)[0]

    def _run(
        self, world: World, files: Mapping[str, bytes], fresh: bool, reach: CountRequest, seed: int | None = None
    ) -> Run:
        with tempfile.TemporaryDirectory(prefix=f"devfix-overlay-{os.getpid()}-") as name:
            folder = laid_over(self.distribution, files, Path(name).resolve())
            run = self.session.observer.run(world, self.session.files, fresh=fresh, overlay=folder, seed=seed)
            return self._relocate_run(run, (str(folder),))

    def _read(self, path: str) -> bytes | None:
        if not path.startswith(self.distribution.package):
            return None
        try:
            return (self.distribution.site / path).read_bytes()
        except OSError:
            return None

    def _locate_installed(self, places: Sequence[SourceLocation]) -> list[SourceLocation]:
        """Return locations with the absolute path of the installed file, which is watched as it is."""
        inside = self.distribution.package
        site = self.distribution.site
        return [replace(each, path=str(site / each.path)) if each.path.startswith(inside) else each for each in places]

    def _relocate_run(self, run: Run, folders: Sequence[str]) -> Run:
        """Return the run as if the distribution's files were owned, with paths relative to the installation folder."""
        roots = tuple(f"{folder}/" for folder in (str(self.distribution.site), *folders))

        def place(each: SourceLocation) -> SourceLocation:
            root = next((root for root in roots if each.path.startswith(root + self.distribution.package)), None)
            return each if root is None else replace(each, path=each.path[len(root) :], owned=True)

        watched = tuple((place(where), scope) for where, scope in run.watched)
        return replace(run, failure=run.failure and _relocate(run.failure, place), watched=watched)


def _relocate(failure: Failure, place: Callable[[SourceLocation], SourceLocation]) -> Failure:
    def event(each: Event) -> Event:
        return replace(each, places=tuple(map(place, each.places)))

    def operand(each: Operand) -> Operand:
        return replace(each, history=tuple(map(event, each.history)))

    frames = tuple(replace(frame, place=place(frame.place)) for frame in failure.frames)
    return replace(failure, frames=frames, operands=tuple(map(operand, failure.operands)))


def _with_pin(session: Session, found: DependencyFault, world: World) -> DependencyFault:
    """Return the fault with the newest other release in which the program runs clean, and the edits that pin it."""
    python = session.target.python
    path = import_path(python)
    for version in _other_versions(releases(python, found.distribution), found.version):
        session.progress(f"trying {found.distribution} {version}")
        with tempfile.TemporaryDirectory(prefix=f"devfix-release-{os.getpid()}-") as name:
            problem = install(python, found.distribution, version, Path(name))
            if problem := problem or new_conflict(path, found.distribution, Path(name)):
                session.notes.add(f"{found.distribution} {version} was not tried: {problem}")
                continue
            run = session.observer.run(world, session.files, overlay=Path(name).resolve())
        clean = run.outcome is Outcome.CLEAN
        how = "runs clean" if clean else f"{run.outcome.value}: {last_line(run)}"
        session.notes.add(f"with {found.distribution} {version} the program {how}")
        if clean:
            pin = pin_version(found.distribution, version, session.observer.tracked, session.content)
            return replace(found, pin=version, pin_edits=pin.edits)
    return found


def _other_versions(versions: Sequence[str], installed: str) -> Iterator[str]:
    yield from [version for version in versions if version != installed][:RELEASES]
