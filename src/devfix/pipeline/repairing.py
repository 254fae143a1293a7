"""The repair loop: run, diagnose, propose, verify, keep; until the program runs clean, is stuck, or enough is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from devfix.catalog import Rule
from devfix.catalog.asked import rules_for
from devfix.model import Diagnosis, Fix, Outcome, Repair, Report, Run, World
from devfix.pipeline.foreign import account
from devfix.pipeline.opening import Asked, opened
from devfix.pipeline.session import Session
from devfix.report.message import commit_message
from devfix.sdk.spots import unseen
from devfix.stages.advise import advise
from devfix.stages.diagnose import diagnose
from devfix.stages.propose import propose
from devfix.stages.verify import Trial, Verifier
from devfix.worlds import worlds_for

CPU = World("cpu")
MAX_FIXES = 10


def repair(
    path: str | Path,
    *,
    run: str | None = None,
    world: str = "auto",
    gpus: int | None = None,
    python: str | None = None,
    exclude: Sequence[str] = (),
    timeout: float | None = None,
    max_fixes: int | None = None,
    branch: str | None = None,
    dry_run: bool = False,
    rules: Sequence[str | Path] = (),
    try_pins: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Find, prove and fix the device failures of the program in the repository at `path`.

    `gpus` (default 1) is the size of the world, `timeout` (default 600) counts seconds for one run of the program.
    `dry_run` leaves no branch. `rules` names folders of local rules, which are code and run in this process.
    `try_pins` looks for a release of a dependency at fault that runs clean.
    Raises UserError for wrong usage, before anything is run.
    """
    began = time.monotonic()
    asked = Asked(run, None if world == "auto" else world, gpus, python, tuple(exclude), timeout, branch)
    with opened(path, asked, progress) as session:
        loop = _Loop(session, max_fixes or session.config.max_fixes or MAX_FIXES, tuple(map(Path, rules)))
        final = loop.repair()
        foreign = account(session, final, loop.rules, try_pins) if loop.is_stuck else None
        commits: list[str] = []
        name = ""
        if loop.fixes and not dry_run:
            with session.timed("branch"):
                commits, name = _publish(session, loop, branch)
        session.seconds["total"] = round(time.monotonic() - began, 3)
        return Report(
            outcome="not-yours" if foreign else _outcome(loop, final),
            world=final.world,
            command=session.command_text,
            root=str(session.repository.root),
            commit=session.repository.commit,
            repairs=tuple(loop.repairs),
            branch=name,
            commits=tuple(commits),
            diff=session.diff(),
            seconds=dict(session.seconds),
            notes=tuple(dict.fromkeys(session.notes)),
            last_run=final,
            foreign=foreign,
            subfolder=session.target.subfolder,
        )


class _Loop:
    """One failure after another, each with the fix that was kept."""

    def __init__(self, session: Session, limit: int, rule_paths: Sequence[Path]) -> None:
        self.session, self.limit = session, limit
        catalog = rules_for(session.config, rule_paths)
        self.rules: tuple[Rule, ...] = catalog.rules
        session.notes += catalog.troubles
        self.repairs: list[Repair] = []
        self._baselines: dict[World, Future[Run]] = {}
        self._stuck = False

    @property
    def fixes(self) -> list[Fix]:
        """The fixes that were kept, in order."""
        return [each.fix for each in self.repairs if each.fix]

    @property
    def is_stuck(self) -> bool:
        """Whether the last failure was understood as one of devices, and nothing in the repository mends it."""
        return bool(self.repairs) and self.repairs[-1].fix is None and self._stuck

    def repair(self) -> Run:
        """Repair until nothing fails or nothing helps; returns the last run in the failing world."""
        with ThreadPoolExecutor(2) as pool:
            self._pool = pool
            if len(self.session.commands) == 1:  # else it is not known yet which of them is repaired
                self._baseline_soon(CPU)
            with self.session.timed("observe"):
                run = self.session.first_run()
            while run.outcome is Outcome.FAILED and len(self.fixes) < self.limit:
                trial = self._step(run)
                if trial is None:
                    return run
                self.session.files = dict(trial.files)
                self._baselines.clear()
                run = trial.run
            if run.outcome is Outcome.FAILED and run.failure:
                self.repairs.append(Repair(run.failure, (), None))
                self.session.notes.append(f"stopped after {self.limit} fixes, as --max-fixes asks; a failure remains")
            return run

    def _step(self, run: Run) -> Trial | None:
        """Repair one failure; None where nothing holds."""
        session = self.session
        session.progress("looking closer at where the tensors come from")
        with session.timed("look"):
            run = self._looked(run)
        failure = run.failure
        if run.outcome is not Outcome.FAILED or failure is None:
            return None
        known = {rule.id: rule for rule in self.rules}
        diagnoses = diagnose(failure, self.rules, session.notes)
        sources = session.sources()
        patches = propose(diagnoses, known, sources, session.notes)
        verifier = Verifier(session.run, run, session.files, worlds_for(run.world, session.gpus_seen), self._baseline)
        session.progress("trying candidates" if diagnoses else "no rule knows this failure")
        with session.timed("verify"):
            kept, dropped = verifier.choose(patches, diagnoses)
        session.notes += [*verifier.flaky, *sources.notes]
        self.repairs.append(_repair(session, diagnoses, run, kept, dropped))
        self._stuck = kept is None
        return kept

    def _looked(self, run: Run) -> Run:
        """The same run once more, recording the scopes that the first look could not see.

        It also shows whether the failure comes again: one that does not is flaky, and left alone.
        """
        assert run.failure is not None
        watch = list(unseen(run.failure))
        again = self.session.observer.run(run.world, self.session.files, watch=watch, fresh=False)
        same = again.failure is not None and (again.failure.kind, again.failure.op) == (
            run.failure.kind,
            run.failure.op,
        )
        if again.outcome is not Outcome.FAILED or not same:
            self.session.notes.append(
                f"the failure is flaky: a second run of the same program {again.outcome.value}; it is left alone"
            )
            self.repairs.append(Repair(run.failure, (), None))
            return replace(run, outcome=Outcome.OTHER)
        return replace(run, failure=replace(run.failure, scopes=again.watched))

    def _baseline_soon(self, world: World) -> Future[Run]:
        if world not in self._baselines:
            files = dict(self.session.files)
            self._baselines[world] = self._pool.submit(self.session.run, world, files, False)
        return self._baselines[world]

    def _baseline(self, world: World) -> Run:
        """How the program does in a world before the patch in question."""
        return self._baseline_soon(world).result()


def _repair(
    session: Session, diagnoses: Sequence[Diagnosis], run: Run, kept: Trial | None, dropped: Sequence[Trial]
) -> Repair:
    assert run.failure is not None

    def fix(trial: Trial) -> Fix:
        paths = [edit.path for edit in trial.patch.edits]
        before = {edit.path: edit.before for edit in trial.patch.edits}
        diff = session.worktrees.diff(before, {path: trial.files[path] for path in paths})
        return Fix(trial.patch, trial.verdict, diff)

    chosen = fix(kept) if kept else None
    if kept and chosen:
        neighbours = advise(kept.patch, partial(session.read, kept.files), session.repository.containing)
        chosen = replace(chosen, neighbours=tuple(neighbours))
    return Repair(run.failure, tuple(diagnoses), chosen, tuple(fix(trial) for trial in dropped))


def _outcome(loop: _Loop, final: Run) -> str:
    if final.outcome is Outcome.CLEAN:
        return "repaired" if loop.fixes else "clean"
    if final.outcome in (Outcome.TIMEOUT, Outcome.SIGNAL, Outcome.NOT_STARTED):
        return "error"
    return "unrepaired"


def _publish(session: Session, loop: _Loop, branch: str | None) -> tuple[list[str], str]:
    """Write one commit for each fix and bring them into the repository as a branch."""
    commits = []
    for repair in loop.repairs:
        if repair.fix:
            files = {edit.path: edit.after for edit in repair.fix.patch.edits}
            message = commit_message(repair.failure, repair.fix, session.command_text, session.world)
            commits.append(session.worktrees.commit(files, message))
    name = branch or f"devfix/{_slug(loop.fixes[0])}"
    return commits, session.worktrees.publish(name, exactly=branch is not None)


def _slug(fix: Fix) -> str:
    stem = Path(fix.patch.edits[0].path).stem.strip("_").lower() or "fix"
    return f"{fix.patch.rule.split('/')[-1]}-{stem}".replace("_", "-")
