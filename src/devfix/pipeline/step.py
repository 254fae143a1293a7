"""One failure -> what mends it: looked at closely, diagnosed, and every candidate run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from devfix.catalog import Rule
from devfix.model import Diagnosis, Fix, Patch, Reach, Repair, Run, World
from devfix.pipeline.session import Session
from devfix.sdk.spots import unseen
from devfix.stages.advise import advise
from devfix.stages.diagnose import diagnose
from devfix.stages.propose import propose
from devfix.stages.verify import Verifier
from devfix.trials import Trial, dropped, in_vain
from devfix.worlds import worlds_for

Baseline = Callable[[World], Run]  # how the program does in a world before the patch in question


@dataclass(frozen=True)
class Step:
    """What was found for one failure: the trials to go on with, best first, and how each is told.

    `confirm` judges one of them in the other worlds, `attempt` a patch that no rule has proposed for this failure.
    """

    ways: tuple[Trial, ...]
    told: Callable[[Trial | None], Repair]
    confirm: Callable[[Trial], Trial]
    attempt: Callable[[Patch], Trial]


class Steps:
    """Finds the steps of one repair."""

    def __init__(self, session: Session, rules: Sequence[Rule], baseline: Baseline) -> None:
        self.session, self.rules, self._baseline = session, rules, baseline

    def find(self, run: Run) -> Step | None:
        """Find what mends the failure of a run; None where it does not come again."""
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
            kept, rest = verifier.choose(patches, diagnoses)
        session.notes += [*verifier.flaky, *sources.notes]
        ways = [trial for trial in rest if kept and _is_other_way(trial, kept)]
        ways.sort(key=lambda trial: trial.verdict.outcome != "holds")

        def told(chosen: Trial | None) -> Repair:
            every = [*filter(None, [kept]), *rest]
            beside = [trial if chosen is None else _beside(chosen, trial) for trial in every if trial is not chosen]
            return Repair(
                looked.failure or run.failure,  # type: ignore[arg-type]
                tuple(_borne_out(diagnoses, every)),
                self._fix(chosen, True) if chosen else None,
                tuple(self._fix(trial) for trial in beside if chosen is None or trial.patch is not chosen.patch),
            )

        def attempt(patch: Patch) -> Trial:
            known = next((each for each in diagnoses if each.rule == patch.rule), diagnoses[0])
            return verifier.attempt(patch, known)

        return Step((kept, *ways) if kept else (), told, verifier.confirm, attempt)

    def _looked(self, run: Run) -> Run | None:
        """The same run once more, recording the scopes that the first look could not see.

        It also shows whether the failure comes again: None for one that does not, which is flaky and left alone.
        """
        assert run.failure is not None
        watch = list(unseen(run.failure))
        reach = Reach((run.failure.at,) if run.failure.at else ())
        again = self.session.observer.run(
            run.world, self.session.files, watch=watch, reach=reach, fresh=False, calls=self.session.writes_tests
        )
        told = again.failure
        if told is None or (told.kind, told.op) != (run.failure.kind, run.failure.op):
            said = f"a second run of the same program {again.outcome.value}"
            self.session.notes.append(f"the failure is flaky: {said}; it is left alone")
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


def _is_other_way(trial: Trial, kept: Trial) -> bool:
    """Whether a trial beside one that only got further holds, or got further by an edit at another place."""
    places = [{(edit.path, edit.line) for edit in each.patch.edits} for each in (trial, kept)]
    if kept.verdict.outcome != "moved":
        return False
    return trial.verdict.outcome == "holds" or (trial.verdict.outcome == "moved" and places[0].isdisjoint(places[1]))


def _beside(chosen: Trial, trial: Trial) -> Trial:
    """A trial as it is told beside the one that was chosen."""
    if chosen.verdict.outcome == "holds":
        return in_vain(trial)
    if trial.verdict.outcome == "holds":
        return dropped(trial, "another has stronger evidence, and what it leads to has a fix of its own")
    return trial


def _borne_out(diagnoses: Sequence[Diagnosis], trials: Sequence[Trial]) -> list[Diagnosis]:
    """The diagnoses for which the source had something to change; all where it had nothing for any."""
    tried = {trial.patch.rule for trial in trials}
    return [each for each in diagnoses if each.rule in tried] or list(diagnoses)
