"""Check what a run printed: its last line, and whether a patched program prints something else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isclose, isnan

from devfix.model import Outcome, Run


def stdout_differs(before: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether a line that is equal in all outputs before the change is another one in all outputs after it.

    Outputs with different numbers of lines are not compared; times are all the same.

    >>> stdout_differs(["loss 1\\n0.3 s", "loss 1\\n0.4 s"], ["loss 2\\n0.3 s", "loss 2\\n0.5 s"])
    True
    >>> stdout_differs(["loss 1\\n0.3 s", "loss 1\\n0.4 s"], ["loss 1\\n0.9 s", "loss 1\\n0.5 s"])
    False
    """
    lines = [without_times(output).splitlines() for output in (*before, *after)]
    if len({len(each) for each in lines}) != 1:
        return False
    first, last = lines[: len(before)], lines[len(before) :]
    return any(
        len(set(old)) == len(set(new)) == 1 and old[0] != new[0]
        for old, new in zip(zip(*first, strict=True), zip(*last, strict=True), strict=True)
    )


_TIME = re.compile(  # a microsecond is written with the micro sign (U+00B5), or with the letter mu (U+03BC) by IPython
    r"(?<![\w.])(\d+\.?\d*|\.\d+)(e[-+]?\d+)? ?([mun\u00b5\u03bc]?s|secs?|seconds?|milliseconds?|mins?|minutes?)\b"
    r"|\b\d+:\d\d:\d\d(\.\d+)?"
)


def without_times(output: str) -> str:
    """Return output in which all times are the same, which differ from run to run.

    >>> without_times("2 passed in 0.03s"), without_times("took 61.5 seconds (0:01:01)"), without_times("a 2x2 s")
    ('2 passed in 0 s', 'took 0 s (0 s)', 'a 2x2 s')
    >>> without_times("Wall time: 41.2 \u03bcs") == without_times("Wall time: 1.1 ms")
    True
    """
    return _TIME.sub("0 s", output)


def prints_alike(one: str, other: str) -> bool:
    """Return whether two outputs are the same, but for times."""
    return without_times(one) == without_times(other)


_DEVICE = re.compile(r"\b(cuda|mps|xpu|cpu|gpu)(:\d+)?\b", re.IGNORECASE)
_SHOWN = re.compile(r",\s+device='\w+(:\d+)?'")  # in the text of a tensor on a GPU only


def without_devices(output: str) -> str:
    """Return output in which all devices have the same name.

    >>> without_devices("on cuda:0, not on the CPU")
    'on device, not on the device'
    >>> without_devices("tensor([1.], device='cuda:0', dtype=torch.half)")
    'tensor([1.], dtype=torch.half)'
    """
    return _DEVICE.sub("device", _SHOWN.sub("", output))


_DRAWS = re.compile(
    r"rand|normal|uniform|bernoulli|dropout|multinomial|exponential|cauchy|geometric|poisson|binomial|gamma|dirichlet"
)


def gpu_only_lines(failing: Run, on_gpu: Sequence[Run], without: Run) -> tuple[str, ...]:
    """Return how a patched program prints something else on simulated GPUs than without one; () if it does not.

    Simulated GPUs compute as the CPU does, except for random numbers.
    """
    is_clean = all(each.outcome is Outcome.CLEAN and not each.ended for each in (*on_gpu, without))
    if failing.world.kind != "simulated" or _draws_on_gpu(on_gpu) or not is_clean:
        return ()
    printed = [without_devices(each.stdout) for each in on_gpu]
    is_other = stdout_differs(printed, [without_devices(without.stdout)])
    return ("the program prints something else on a GPU than without one",) if is_other else ()


_MEASURES = re.compile(  # figures of the machine, not of the values
    r"time|elapsed|took|speed|throughput|fps|memory|alloc|\bgpus?\b|devices?"
    r"|\d ?([mun\u00b5\u03bc]?s|sec\w*|min\w*|[kMGT]i?B|it/s)\b|/s\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|\b(?:nan|inf)\b", re.IGNORECASE)
_CLOSE = 0.01  # relative difference of two numbers: half precision on a GPU rounds differently


def differing_numbers(failing: Run, on_gpu: Sequence[Run], without: Run) -> str:
    """Return which number a patched program prints differently on simulated GPUs and without one; "" if none.

    Lines printed before the failure are ignored, since the patch does not affect them. So are times, numbers of
    devices, what changes from run to run, and programs that run the failing operator more or less often on a GPU.
    """
    if not gpu_only_lines(failing, on_gpu, without) or not _runs_alike(failing, on_gpu[-1], without):
        return ""
    outputs = [without_devices(each.stdout).splitlines() for each in (*on_gpu, without)]
    for *there, here in list(zip(*outputs, strict=True))[len(failing.stdout.splitlines()) :]:
        if len(set(there)) == 1 and (apart := _first_difference(there[0], here)):
            return f"{apart[0]}, and {apart[1]} without one"
    return ""


def _first_difference(one: str, other: str) -> tuple[str, str] | None:
    """Return the first numbers in which two lines of the same text differ, unless they are figures of the machine.

    >>> _first_difference("loss 3.9", "loss 0.6"), _first_difference("3 s", "2 s"), _first_difference("1-3", "1")
    (('3.9', '0.6'), None, None)
    """
    if _NUMBER.split(one) != _NUMBER.split(other) or _MEASURES.search(other):
        return None
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return next((pair for pair in pairs if _differ(*pair)), None)


def lost_results(on_gpu: Sequence[Run], without: Sequence[Run]) -> str:
    """Return which result runs on simulated GPUs print otherwise than those without one, or do not print; "" if none.

    Words alone do not count, by which a program may say that it falls back to something else. Nor do lines that vary
    from run to run, figures of the machine, and programs that draw random numbers on a GPU or without a seed.
    """
    runs = [*on_gpu, *without]
    is_clean = all(each.outcome is Outcome.CLEAN and not each.ended for each in runs)
    is_drawn = any(each.unseeded for each in runs) or _draws_on_gpu(on_gpu)
    if not is_clean or is_drawn or any(each.world.kind != "simulated" for each in on_gpu):
        return ""
    there, here = (
        [without_times(without_devices(each.stdout)).splitlines() for each in of] for of in (on_gpu, without)
    )
    if len({len(lines) for lines in (*there, *here)}) != 1:
        return _missing_line(there, here)
    for on, off in zip(zip(*there, strict=True), zip(*here, strict=True), strict=True):
        if len(set(on)) == len(set(off)) == 1 and _loses_number(on[0], off[0]):
            return f"on a GPU the program prints `{on[0].strip()[:80]}`, and `{off[0].strip()[:80]}` without one"
    return ""


def _comparable_lines(run: Run) -> list[str]:
    return without_times(without_devices(run.stdout)).splitlines()


def _missing_line(there: Sequence[Sequence[str]], here: Sequence[Sequence[str]]) -> str:
    """Return which lines are missing on a GPU, if those printed there all are, in their order, in what is here."""
    first, last = there[0], here[0]
    if any(each != first for each in there) or any(each != last for each in here):
        return ""
    rest, missing = iter(first), list[str]()
    expected = next(rest, None)
    for line in last:
        if line == expected:
            expected = next(rest, None)
        else:
            missing.append(line)
    if expected is not None or not any(_NUMBER.search(line) and not _MEASURES.search(line) for line in missing):
        return ""
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    return f"on a GPU the program does not print `{missing[0].strip()[:80]}`{more}, as it does without one"


def _loses_number(one: str, other: str) -> bool:
    """Return whether a line has other numbers than one without a GPU, or words in place of numbers.

    >>> _loses_number("0 losses", "3 losses"), _loses_number("loss None", "loss 0.5"), _loses_number("no", "yes")
    (True, True, False)
    """
    if _NUMBER.search(one) is None and _NUMBER.search(other) is not None:
        return not _MEASURES.search(other)
    return _first_difference(one, other) is not None


def _draws_on_gpu(runs: Sequence[Run]) -> bool:
    return any(each.device and _DRAWS.search(each.op) for run in runs for each in run.operator_totals)


def _runs_alike(failing: Run, on_gpu: Run, without: Run) -> bool:
    """Return whether the operator that failed runs as often on a GPU as without one."""
    op = failing.failure and failing.failure.op
    there, here = (
        sum(each.host + each.device for each in run.operator_totals if each.op == op) for run in (on_gpu, without)
    )
    return there == here


def _differ(one: str, other: str) -> bool:
    """Return whether two printed numbers differ by more than rounding.

    >>> _differ("0.637", "0.638"), _differ("0.0", "3"), _differ("nan", "nan"), _differ("nan", "1"), _differ("inf", "1")
    (False, True, False, True, True)
    """
    first, second = float(one), float(other)
    return not isclose(first, second, rel_tol=_CLOSE) and not (isnan(first) and isnan(second))


SEEDS = {
    "torch": "torch.manual_seed(0)",
    "random": "random.seed(0)",
    "numpy": "numpy.random.seed(0), or numpy.random.default_rng(0)",
}


def unseeded_note(names: Sequence[str]) -> str:
    """Return the note on a program that draws from these generators without a seed."""
    seeds = "; ".join(SEEDS[name] for name in names)
    return (
        f"the program draws random numbers without a seed ({', '.join(names)}): its results were compared in runs "
        f"that devfix seeded; to have them repeat, seed the program: {seeds}"
    )


def last_line(run: Run) -> str:
    """Return how a run ended, in one line: the exception, the limit, the signal, or the last line of stderr."""
    if run.failure is not None:
        return f"{run.failure.exception}: {run.failure.message}".split("\n")[0][:200]
    lines = run.stderr.strip().splitlines()
    if run.signal and run.internal_errors:  # a limit
        return run.internal_errors[-1][:200]
    return run.signal or (lines[-1][:200] if lines else f"exit code {run.exit_code}")
