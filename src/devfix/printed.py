"""What a run printed: its last word, and whether a changed program prints something else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from devfix.model import Outcome, Run


def prints_else(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether a line that is the same in all outputs before the change is another one in all outputs after it.

    Outputs of different lengths cannot be held side by side, and say nothing.

    >>> prints_else(["loss 1\\n0.3 s", "loss 1\\n0.4 s"], ["loss 2\\n0.3 s", "loss 2\\n0.5 s"])
    True
    >>> prints_else(["loss 1\\n0.3 s", "loss 1\\n0.4 s"], ["loss 1\\n0.9 s", "loss 1\\n0.5 s"])
    False
    """
    lines = [output.splitlines() for output in (*before, *after)]
    if len({len(each) for each in lines}) != 1:
        return False
    first, last = lines[: len(before)], lines[len(before) :]
    return any(
        len(set(old)) == len(set(new)) == 1 and old[0] != new[0]
        for old, new in zip(zip(*first, strict=True), zip(*last, strict=True), strict=True)
    )


_DEVICE = re.compile(r"\b(cuda|cpu|gpu)(:\d+)?\b", re.IGNORECASE)


def without_devices(output: str) -> str:
    """Return what a program printed with the names of devices made one.

    >>> without_devices("on cuda:0, not on the CPU")
    'on device, not on the device'
    """
    return _DEVICE.sub("device", output)


def prints_apart(failing: Run, on_gpu: Sequence[Run], without: Run) -> tuple[str, ...]:
    """Return how a patched program prints something else on simulated GPUs than without one; () where it does not.

    Simulated GPUs compute as the CPU does, but for what is drawn at random there.
    """
    operands = failing.failure.operands if failing.failure is not None else ()
    is_drawn = any(event.kind == "random" for each in operands for event in each.history)
    is_clean = all(each.outcome is Outcome.CLEAN for each in (*on_gpu, without))
    if failing.world.kind != "simulated" or is_drawn or not is_clean:
        return ()
    printed = [without_devices(each.stdout) for each in on_gpu]
    is_other = prints_else(printed, [without_devices(without.stdout)])
    return ("the program prints something else on a GPU than without one",) if is_other else ()


SEEDS = {
    "torch": "torch.manual_seed(0)",
    "random": "random.seed(0)",
    "numpy": "numpy.random.seed(0), or numpy.random.default_rng(0)",
}


def unseeded_note(names: Sequence[str]) -> str:
    """Return what is said of a program that draws from these generators without a seed."""
    seeds = "; ".join(SEEDS.get(name, f"seed {name}") for name in names)
    return (
        f"the program draws random numbers without a seed ({', '.join(names)}): its results were compared in runs "
        f"that devfix seeded; to have them repeat, seed the program: {seeds}"
    )


def last_line(run: Run) -> str:
    """How a run ended, in one line: the exception, the limit it broke, the signal, or the last line of its errors."""
    if run.failure is not None:
        return f"{run.failure.exception}: {run.failure.message}".split("\n")[0][:200]
    lines = run.stderr.strip().splitlines()
    if run.signal and run.trouble:  # a limit
        return run.trouble[-1][:200]
    return run.signal or (lines[-1][:200] if lines else f"exit code {run.exit_code}")
