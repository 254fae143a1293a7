"""Patches -> the fix: run each candidate, in the world that failed and then in every other.

The pipeline hands over the function that runs the program, so this stage knows nothing of processes or worktrees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import islice

from devfix.computing import computes_apart, computes_else, edited_places, leaves_device
from devfix.handed import hands_else, looked_for
from devfix.hiding import fails_there, hidden, places_after
from devfix.lines import same_cause
from devfix.model import NOWHERE, Diagnosis, Outcome, Patch, Reach, Run, Verdict, World
from devfix.printed import last_line, prints_else
from devfix.trials import Trial, copies_in_loop, dropped, in_vain, is_no_better, spread, where

# A world, changed files, whether the process must be a fresh one, and where operators are counted.
Runner = Callable[[World, Mapping[str, bytes], bool, Reach], Run]
CANDIDATES = 24
BETTER = 6  # more looked at for fewer copies, after one that holds but copies in a loop
CPU = World("cpu")
FURTHER = 6  # more looked at for one that holds, after one that gets to a failure with another cause


class Verifier:
    """Judges candidates against one failing run; `run` is called from up to `jobs` threads at once."""

    def __init__(
        self,
        run: Runner,
        before: Run,
        files: Mapping[str, bytes],
        worlds: Sequence[World],
        baseline: Callable[[World], Run],
        jobs: int = 2,
    ) -> None:
        self.run, self.before, self.files, self.worlds, self.baseline = run, before, files, worlds, baseline
        self.jobs = jobs
        self.flaky: list[str] = []
        self.is_flaky = False  # the failure itself comes and goes: no run of a patch says anything

    def choose(self, patches: Iterable[Patch], diagnoses: Sequence[Diagnosis]) -> tuple[Trial | None, list[Trial]]:
        """The trial to keep, and those that were dropped.

        The first candidate that holds in every world is kept, unless its edit copies in a loop and one of the next
        makes fewer copies. Where none holds, or only one of weaker evidence, the first that gets further, to a failure
        with another cause, is kept.
        """
        held: Trial | None = None
        trials, further = list[Trial](), list[Trial]()
        blamed = {each.rule: each for each in diagnoses}
        left, queue = CANDIDATES, iter(patches)
        with ThreadPoolExecutor(self.jobs) as pool:
            while left > 0 and (batch := list(islice(queue, min(left, self.jobs) if trials else 1))):
                left -= len(batch)
                for trial in pool.map(lambda patch: self.attempt(patch, blamed[patch.rule]), batch):
                    if trial.verdict.outcome == "holds" and not (held and is_no_better(trial, held)):
                        trial = self.elsewhere(trial, pool)
                    elif trial.verdict.outcome == "holds":
                        trial = dropped(trial, "another candidate that holds makes no more copies or stands nearer")
                    trials.append(trial)
                    if trial.verdict.outcome == "moved":
                        if not further:
                            queue = iter(spread(islice(queue, left), [trial.patch]))
                            left = min(left, FURTHER)
                        further.append(trial)
                    if trial.verdict.outcome == "holds" and not (held and is_no_better(trial, held)):
                        if held is None:
                            left = min(left, BETTER)
                        held = trial
                if self.is_flaky or (held is not None and not held.lame and not copies_in_loop(held)):
                    break
            stronger = [trial for trial in further if held is None or trial.patch.rank[:1] < held.patch.rank[:1]]
            if stronger and not self.is_flaky:
                held = self._furthest(stronger, pool) or held
        if held is not None and held.verdict.outcome == "holds":
            trials = [in_vain(trial) for trial in trials]
        return held, [trial for trial in trials if trial is not held and trial.patch is not (held and held.patch)]

    def attempt(self, patch: Patch, diagnosis: Diagnosis) -> Trial:
        """Run one candidate in the world that failed."""
        files = {**self.files, **{edit.path: edit.after for edit in patch.edits}}
        failed, home = self.before.failure, self.before.world
        places = places_after(failed.at, patch.edits) if failed and failed.at else ()
        reach = Reach(places, looked_for(failed, diagnosis))
        run = self.run(home, files, False, reach)
        outcome, because = self._outcome(patch, diagnosis, run)
        if outcome in ("holds", "moved"):
            plain, patched = partial(self.run, home, self.files, False, NOWHERE), partial(self.run, home, files, False)
            if other := hands_else(self.before, diagnosis, reach, run, plain, patched):
                outcome, because = "differs", other
        copies, worlds = (self.before.copies, run.copies), {home.name: run.outcome.value}
        return Trial(patch, files, run, Verdict(outcome, worlds, *copies, because, run.failure))

    def _outcome(self, patch: Patch, diagnosis: Diagnosis, run: Run) -> tuple[str, str]:
        failure = self.before.failure
        operands = failure.operands if failure is not None else ()
        wrong = operands[diagnosis.blame.operand] if operands else None
        if run.outcome is Outcome.CLEAN:
            wrongs = hidden(self.before, wrong, run, patch.edits) or leaves_device(self.before, wrong, run)
            return ("broken", wrongs) if wrongs else ("holds", "")
        if run.outcome is not Outcome.FAILED or run.failure is None or failure is None:
            return "broken", f"the program {run.outcome.value}: {last_line(run)}"
        there = where(run.failure)
        if same_cause(failure, wrong, run.failure, patch.edits):
            same = run.failure.at == failure.at and run.failure.operations == failure.operations
            return "same", "the same failure comes again" if same else f"it only moves the crash to {there}: same cause"
        if run.failure.operations < failure.operations:
            return "broken", f"it fails earlier, at {there}"
        if wrongs := hidden(self.before, wrong, run, patch.edits) or leaves_device(self.before, wrong, run):
            return "broken", wrongs
        return "moved", f"the next failure has a cause of its own, at {there}"

    def _furthest(self, trials: Sequence[Trial], pool: ThreadPoolExecutor) -> Trial | None:
        for trial in trials:
            judged = self.elsewhere(trial, pool)
            if judged.verdict.outcome == "moved":
                return judged
        return None

    def confirm(self, trial: Trial) -> Trial:
        """Judge a trial in the other worlds that was passed over at first."""
        with ThreadPoolExecutor(self.jobs) as pool:
            return self.elsewhere(trial, pool)

    def elsewhere(self, trial: Trial, pool: ThreadPoolExecutor) -> Trial:
        """Run a candidate that did well in the other worlds, and afresh in the one that failed."""
        home = self.before.world
        others = [world for world in self.worlds if world != home]
        edited = Reach(edited_places(trial.patch.edits))
        runs: dict[World, Future[Run]] = {
            world: pool.submit(self.run, world, trial.files, world == home, edited if world in (home, CPU) else NOWHERE)
            for world in [home, *others]
        }
        control = pool.submit(self.run, home, self.files, False, NOWHERE)
        worlds, outcome, because, lame = {}, trial.verdict.outcome, trial.verdict.because, 0
        for world, future in runs.items():
            run = future.result()
            worlds[world.name] = run.outcome.value
            if outcome in ("worse", "differs", "broken"):
                continue
            lame += (
                world != home
                and self.before.failure is not None
                and fails_there(run, self.before.failure, trial.patch.edits)
            )
            if world == home and run.outcome is not trial.run.outcome:
                outcome, because = "broken", f"it does not repeat: {run.outcome.value} in a fresh process"
            elif world != home and (worse := self._worse(world, trial, run)):
                outcome, because = worse
            elif world == CPU and (apart := computes_apart(runs[home].result(), run, trial.patch.edits)):
                outcome, because = "differs", apart
        if control.result().outcome is Outcome.CLEAN:
            outcome, because = "broken", "the failure is flaky: without the patch the program ran clean as well"
            self.flaky.append("the failure is flaky: a later run of the same program was clean; it is left alone")
            self.is_flaky = True
        before = {home.name: self.before.outcome.value}
        if outcome in ("holds", "moved"):  # the CPU world was run for its output; the others only where a patch fails
            before |= {world.name: self.baseline(world).outcome.value for world in others if world == CPU}
        verdict = replace(trial.verdict, outcome=outcome, worlds=worlds, because=because, before=before)
        return replace(trial, verdict=verdict, lame=lame)

    def _worse(self, world: World, trial: Trial, run: Run) -> tuple[str, str] | None:
        if run.outcome is Outcome.CLEAN and world != CPU:
            return None
        before = self.baseline(world)
        if run.outcome is not Outcome.CLEAN:
            if before.outcome is Outcome.CLEAN:
                return "worse", f"{world.name} ran before, now it {run.outcome.value}: {last_line(run)}"
            return None
        if before.outcome is Outcome.CLEAN and before.torch and not run.torch:
            return "differs", f"nothing is seen of the program any more in the world {world.name}"
        if before.outcome is Outcome.CLEAN and (before.stdout != run.stdout or computes_else([before], run)):
            return self._differs(world, trial, before, run)
        return None

    def _differs(self, world: World, trial: Trial, before: Run, run: Run) -> tuple[str, str] | None:
        again = self.run(world, self.files, False, NOWHERE)
        if before.stdout != run.stdout and self._prints_else(world, trial, [before, again], run):
            return "differs", f"the program prints something else in the world {world.name}"
        plain = [before, again]
        if computes_else(plain, run):  # once more, against chance
            plain.append(self.run(world, self.files, False, NOWHERE))
        if computes := computes_else(plain, run):
            return "differs", f"the program computes something else in the world {world.name}: {computes}"
        return None

    def _prints_else(self, world: World, trial: Trial, plain: Sequence[Run], run: Run) -> bool:
        before = [each.stdout for each in plain]
        if len(set(before)) == 1:
            return True
        where = f"what the program prints in the world {world.name}"
        self.flaky.append(f"{where} changes from run to run: only the lines that repeat are compared")
        third, other = (self.run(world, files, False, NOWHERE).stdout for files in (self.files, trial.files))
        return prints_else([*before, third], [run.stdout, other])
