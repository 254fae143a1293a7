"""Compare what a program does with a patch in another world than the one that failed with what it did there before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from devfix.model import NO_COUNTS, CountRequest, Outcome, Run, VerdictOutcome, World
from devfix.verification.candidate import CandidateResult
from devfix.verification.checks.computation import diff_totals
from devfix.verification.checks.ended import ENDED_NOTE
from devfix.verification.checks.model_summaries import differs_by_children, registered_attributes
from devfix.verification.checks.newly_trained import newly_trained, training_request
from devfix.verification.checks.stdout import last_line, prints_alike, stdout_differs, unseeded_note
from devfix.verification.other_commands.endings import ends_alike
from devfix.verification.requests import CPU

# Arguments: world, changed files, whether the process must be a fresh one, locations at which operators are counted.
Runner = Callable[[World, Mapping[str, bytes], bool, CountRequest], Run]


@dataclass(frozen=True)
class Difference:
    """The difference that a candidate makes in a world: its verdict and the reason, or an effect that is intended."""

    outcome: VerdictOutcome | None = None
    reason: str = ""
    effect: str = ""


AS_BEFORE = Difference()


class OtherWorlds:
    """Compares runs of candidates with those of the program without them; what varies by itself is added to `remarks`.

    `run` runs the program; `seeded` does so with seeded random generators, and `baseline` without a patch.
    """

    def __init__(
        self,
        run: Runner,
        seeded: Runner,
        files: Mapping[str, bytes],
        baseline: Callable[[World], Run],
        remarks: list[str],
    ) -> None:
        """Compare with the program with `files` changed, as it was before the candidates."""
        self._run, self._seeded, self._files, self._baseline, self._remarks = run, seeded, files, baseline, remarks

    def compare(self, world: World, candidate: CandidateResult, run: Run) -> Difference:
        """Return what a candidate changes in a world, by its run there."""
        if run.outcome is Outcome.CLEAN and world != CPU:
            return AS_BEFORE
        before = self._baseline(world)
        if run.outcome is not Outcome.CLEAN and before.outcome is Outcome.CLEAN:
            return Difference("regressed", f"{world.name} ran before, now it {run.outcome.value}: {last_line(run)}")
        ended = before.outcome is Outcome.OTHER and candidate.run.outcome is Outcome.OTHER and world == CPU
        if ended and not ends_alike(run, before, candidate.patch.edits):
            now = f"now it {run.outcome.value}: {last_line(run)}"
            return Difference("regressed", f"{world.name} ended with {last_line(before)}, {now}")
        if not ended and (before.outcome, run.outcome) != (Outcome.CLEAN, Outcome.CLEAN):
            return AS_BEFORE
        if before.torch and not run.torch:
            return _changes(f"nothing is seen of the program any more in the world {world.name}")
        if before.ended or run.ended:
            self._remarks.append(ENDED_NOTE)
            return AS_BEFORE
        if prints_alike(before.stdout, run.stdout) and not diff_totals([before], run, candidate.patch.recomputes):
            return AS_BEFORE
        if not self.draws_unseeded(before, run):
            return self._differs(world, candidate, before, run, self._run)
        before, run = (self._seeded(world, files, False, NO_COUNTS) for files in (self._files, candidate.files))
        if before.outcome is not (Outcome.OTHER if ended else Outcome.CLEAN):
            return AS_BEFORE  # with these numbers the program ends otherwise, so nothing can be compared
        if run.outcome is not before.outcome:
            now = f"now it {run.outcome.value}: {last_line(run)}"
            return Difference("regressed", f"{world.name} ran before, with a seed, {now}")
        return self._differs(world, candidate, before, run, self._seeded)

    def _differs(self, world: World, candidate: CandidateResult, before: Run, run: Run, runner: Runner) -> Difference:
        patch = candidate.patch
        if prints_alike(before.stdout, run.stdout) and not diff_totals([before], run, patch.recomputes):
            return AS_BEFORE
        again = runner(world, self._files, False, training_request(patch.edits))
        effect = newly_trained(patch.edits, again)
        new = registered_attributes(patch.edits)  # printed summaries of the model may tell of them
        alike = prints_alike(before.stdout, run.stdout) or differs_by_children(before.stdout, run.stdout, new)
        if not alike and self._prints_else(world, candidate, [before, again], run, runner):
            return _changes(f"the program prints something else in the world {world.name}", effect)
        plain = [before, again]
        if diff_totals(plain, run, patch.recomputes):  # run again to exclude chance
            plain.append(runner(world, self._files, False, NO_COUNTS))
        if computes := diff_totals(plain, run, patch.recomputes):
            return _changes(f"the program computes something else in the world {world.name}: {computes}", effect)
        return AS_BEFORE

    def _prints_else(
        self, world: World, candidate: CandidateResult, plain: Sequence[Run], run: Run, runner: Runner
    ) -> bool:
        before = [each.stdout for each in plain]
        if prints_alike(*before):
            return True
        where = f"what the program prints in the world {world.name}"
        self._remarks.append(f"{where} changes from run to run: only the lines that repeat are compared")
        third, other = (runner(world, files, False, NO_COUNTS).stdout for files in (self._files, candidate.files))
        return stdout_differs([*before, third], [run.stdout, other])

    def draws_unseeded(self, *runs: Run) -> bool:
        """Return whether runs drew from unseeded generators, so that they may agree by chance."""
        names = sorted({name for run in runs for name in run.unseeded})
        if names:
            self._remarks.append(unseeded_note(names))
        return bool(names)


def _changes(reason: str, effect: str = "") -> Difference:
    """Return the difference of a candidate that changes what a program computes, which may be the intended effect."""
    return Difference(effect=effect) if effect else Difference("behaviour-changed", reason)
