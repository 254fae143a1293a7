"""The loop: one failure after another, each with the fix that was kept; back where a fix leads nowhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

from devfix.catalog import Rule
from devfix.model import Diagnosis, Fix, Outcome, Repair, Run, World
from devfix.pipeline.session import Session
from devfix.sdk.spots import unseen
from devfix.stages.advise import advise
from devfix.stages.diagnose import diagnose
from devfix.stages.propose import propose
from devfix.stages.verify import Verifier
from devfix.trials import Trial
from devfix.worlds import worlds_for

CPU = World("cpu")
WITHOUT_GPU = ("no-device", "deserialize", "invalid-ordinal")
DETOURS = 3  # other fixes tried in one repair, where those that were kept led to a failure that nothing mends


@dataclass(frozen=True)
class _Step:
    """What was found for one failure: the trials to go on with, best first, and how each is told."""

    ways: tuple[Trial, ...]
    told: Callable[[Trial | None], Repair]
    confirm: Callable[[Trial], Trial]


class Loop:
    """Repairs one failure after another; `repairs` tells of each."""

    def __init__(self, session: Session, limit: int, rules: Sequence[Rule]) -> None:
        self.session, self.limit, self.rules = session, limit, rules
        self.repairs: list[Repair] = []
        self.is_stuck = False
        self._detours = DETOURS
        self._baselines: dict[World, Future[Run]] = {}

    @property
    def fixes(self) -> list[Fix]:
        """The fixes that were kept, in order."""
        return [each.fix for each in self.repairs if each.fix]

    def repair(self) -> Run:
        """Repair until nothing fails or nothing helps; returns the last run in the failing world."""
        with ThreadPoolExecutor(2) as pool:
            self._pool = pool
            if len(self.session.commands) == 1:  # else it is not known yet which of them is repaired
                self._baseline_soon(CPU)
            with self.session.timed("observe"):
                run = self.session.first_run()
            final = self._mend(run)
            if final.outcome is Outcome.CLEAN and final.world != CPU and not self.fixes and CPU in self._baselines:
                self._tell_without_gpu(self._baseline(CPU))
            return final

    def _tell_without_gpu(self, run: Run) -> None:
        """Say of a program that runs on GPUs that it does not without one: to mend that is for who asks for it."""
        failure = run.failure
        if run.outcome is Outcome.FAILED and failure is not None and failure.kind in WITHOUT_GPU and failure.at:
            told = failure.message.split("\n")[0][:120]
            where = f"{failure.at.path}:{failure.at.line}"
            self.session.notes.append(f"without a GPU the program fails at {where}, {told}; to mend that: --world cpu")

    def _mend(self, run: Run) -> Run:
        """Repair a run and what comes behind it; `is_stuck` says whether a failure is left that nothing mends."""
        self.is_stuck = False
        if run.outcome is not Outcome.FAILED or run.failure is None:
            return run
        if len(self.fixes) >= self.limit:
            self.repairs.append(Repair(run.failure, (), None))
            self.session.notes.append(f"stopped after {self.limit} fixes, as --max-fixes asks; a failure remains")
            return run
        step = self._step(run)
        if step is None:
            return run
        mark, files = len(self.repairs), self.session.files
        first: tuple[Run, list[Repair], dict[str, bytes]] | None = None
        for way in step.ways:
            trial = way if first is None else self._detour(step, way, files)
            if trial is None:
                continue
            self.repairs[mark:] = [step.told(trial)]
            self._take(dict(trial.files))
            final = self._mend(trial.run)
            if not self.is_stuck:
                return final
            first = first or (final, self.repairs[mark:], self.session.files)
        if first is None:
            self.repairs.append(step.told(None))
            self.is_stuck = True
            return run
        final, self.repairs[mark:], self.session.files = first
        self.is_stuck = True
        return final

    def _detour(self, step: _Step, trial: Trial, files: dict[str, bytes]) -> Trial | None:
        """Another way, confirmed in all worlds; None where enough were tried or it does not hold there."""
        if self._detours == 0:
            return None
        self._detours -= 1
        self.session.progress("that way leads nowhere: trying another")
        self._take(files)
        confirmed = step.confirm(trial)
        return confirmed if confirmed.verdict.outcome == trial.verdict.outcome else None

    def _take(self, files: dict[str, bytes]) -> None:
        self.session.files = files
        self._baselines.clear()

    def _step(self, run: Run) -> _Step | None:
        """Find what mends one failure; None where it does not come again."""
        session = self.session
        session.progress("looking closer at where the tensors come from")
        with session.timed("look"):
            looked = self._looked(run)
        if looked is None or looked.failure is None:
            return None
        diagnoses = diagnose(looked.failure, self.rules, session.notes)
        sources = session.sources()
        patches = propose(diagnoses, {rule.id: rule for rule in self.rules}, sources, session.notes)
        worlds = worlds_for(run.world, session.gpus_seen)
        verifier = Verifier(session.run, looked, session.files, worlds, self._baseline)
        session.progress("trying candidates" if diagnoses else "no rule knows this failure")
        with session.timed("verify"):
            kept, dropped = verifier.choose(patches, diagnoses)
        session.notes += [*verifier.flaky, *sources.notes]
        others = [trial for trial in dropped if kept and _is_other_way(trial, kept)]

        def told(chosen: Trial | None) -> Repair:
            rest = [trial for trial in (*filter(None, [kept]), *dropped) if trial is not chosen]
            return Repair(
                looked.failure or run.failure,  # type: ignore[arg-type]
                tuple(_borne_out(diagnoses, (*filter(None, [kept]), *dropped))),
                self._fix(chosen, True) if chosen else None,
                tuple(self._fix(trial) for trial in rest if chosen is None or trial.patch is not chosen.patch),
            )

        return _Step((kept, *others) if kept else (), told, verifier.confirm)

    def _looked(self, run: Run) -> Run | None:
        """The same run once more, recording the scopes that the first look could not see.

        It also shows whether the failure comes again: None for one that does not, which is flaky and left alone.
        """
        assert run.failure is not None
        watch = list(unseen(run.failure))
        reach = [run.failure.at] if run.failure.at else []
        again = self.session.observer.run(
            run.world, self.session.files, watch=watch, reach=reach, fresh=False, calls=self.session.writes_tests
        )
        told = again.failure
        if told is None or (told.kind, told.op) != (run.failure.kind, run.failure.op):
            said = f"a second run of the same program {again.outcome.value}"
            self.session.notes.append(f"the failure is flaky: {said}; it is left alone")
            self.repairs.append(Repair(run.failure, (), None))
            return None
        run = replace(run, failure=replace(run.failure, calls=told.calls, test=told.test))
        assert run.failure is not None
        failure = replace(run.failure, scopes=again.watched)
        return replace(run, failure=failure, visits=again.visits, computed=again.computed)

    def _fix(self, trial: Trial, kept: bool = False) -> Fix:
        session, patch = self.session, trial.patch
        before = {edit.path: edit.before for edit in patch.edits}
        diff = session.worktrees.diff(before, {edit.path: edit.after for edit in patch.edits})
        if not kept:
            return Fix(patch, trial.verdict, diff)
        neighbours = advise(patch, partial(session.read, trial.files), session.repository.containing)
        return Fix(patch, trial.verdict, diff, tuple(neighbours))

    def _baseline_soon(self, world: World) -> Future[Run]:
        if world not in self._baselines:
            files = dict(self.session.files)
            self._baselines[world] = self._pool.submit(self.session.run, world, files, False)
        return self._baselines[world]

    def _baseline(self, world: World) -> Run:
        """How the program does in a world before the patch in question."""
        return self._baseline_soon(world).result()


def _is_other_way(trial: Trial, kept: Trial) -> bool:
    """Whether a trial got further as well, by an edit at another place than the one that was kept."""
    places = [{(edit.path, edit.line) for edit in each.patch.edits} for each in (trial, kept)]
    return kept.verdict.outcome == trial.verdict.outcome == "moved" and places[0].isdisjoint(places[1])


def _borne_out(diagnoses: Sequence[Diagnosis], trials: Sequence[Trial]) -> list[Diagnosis]:
    """The diagnoses for which the source had something to change; all where it had nothing for any."""
    tried = {trial.patch.rule for trial in trials}
    return [each for each in diagnoses if each.rule in tried] or list(diagnoses)
