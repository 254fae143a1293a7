"""Record what PyTorch's CUDA library does with each operator of PyTorch's database: run by cuda_library.py --record.

Operators run in forked children, since what nothing computes may be the size of an allocation, or an index that ends
the process. An operator that raises more than complaints about devices runs twice, with memory full of zeros and of
ones: rows that differ hang on values, which the library has not computed, and are left out.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import warnings
from pathlib import Path
from typing import Any

import torch

from devfix.probe.conformance import operators, recordings

ALONE = "cuda:0 alone"
MOST = 2  # samples of an operator in mixtures
LIMIT = 60  # seconds for an operator
TOGETHER = 16  # operators in one child

Rows = dict[str, dict[str, str]]


def rows_of(operator: Any) -> Rows:
    """Return the results of an operator by pair of devices."""
    found = {pair: dict(operators.mixtures(operator, *places, MOST)) for pair, places in operators.PAIRS.items()}
    found[ALONE] = dict(operators.alone(operator, "cuda:0"))
    return {pair: rows for pair, rows in found.items() if rows}


def apart(chosen: list[Any], byte: str) -> list[Rows | None]:
    """Return the rows of operators that run in a child; None for the one that has ended it, and those after it."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _report(chosen, byte, writing)
    os.close(writing)
    with os.fdopen(reading) as lines:
        found: list[Rows | None] = [json.loads(line) for line in lines if line.endswith("\n")]
    os.waitpid(child, 0)
    return found + [None] * (len(chosen) - len(found))


def _report(chosen: list[Any], byte: str, writing: int) -> None:
    os.environ["DEVFIX_CUDA_BYTE"] = byte
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 2)
    with contextlib.suppress(BaseException):
        for operator in chosen:
            signal.alarm(LIMIT)
            os.write(writing, (json.dumps(rows_of(operator)) + "\n").encode())
    os._exit(0)


def every(chosen: list[Any], byte: str) -> dict[str, Rows | None]:
    """Return the rows of operators by name; None for those that end the process alone too."""
    found: dict[str, Rows | None] = {}
    for first in range(0, len(chosen), TOGETHER):
        left = chosen[first : first + TOGETHER]
        while left:
            answers = apart(left, byte)
            done = next((place for place, each in enumerate(answers) if each is None), len(left))
            found.update((operators.name_of(each), rows) for each, rows in zip(left[:done], answers, strict=False))
            if done < len(left):
                found[operators.name_of(left[done])] = None
            left = left[done + 1 :]
        print(f"{len(found)} operators", file=sys.stderr, flush=True)
    return found


def complains_otherwise(rows: Rows | None) -> bool:
    """Return whether an operator has raised more than that tensors are on several devices."""
    texts = {text for found in (rows or {}).values() for text in found.values()}
    return any(text != "ok" and "same device" not in text for text in texts)


def is_of_runtime(text: str) -> bool:
    """Return whether a result is of the runtime in place of CUDA's: Triton asks it for what it does not have."""
    return text.startswith(("ImportError", "OutOfMemoryError"))


def main(file: Path) -> None:
    """Record all operators."""
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    torch.cuda._is_in_bad_fork = lambda: False  # type: ignore[assignment]
    known = operators.database()
    first = every(known, "0")
    again = every([each for each in known if complains_otherwise(first[operators.name_of(each)])], "1")
    recorded: dict[str, Rows] = {pair: {} for pair in (*operators.PAIRS, ALONE)}
    left_out = 0
    for name, pairs in first.items():
        for pair, rows in (pairs or {}).items():
            same = rows if name not in again else (again[name] or {}).get(pair, {})
            kept = {row: text for row, text in rows.items() if same.get(row) == text and not is_of_runtime(text)}
            left_out += len(rows) - len(kept)
            if kept:
                recorded[pair][name] = kept
    told = {
        "torch": torch.__version__,
        "world": "PyTorch's CUDA library on a runtime that computes nothing (benchmarks/cuda_library.py): not a GPU",
        "device": "cuda",
        "driver": "",
        "gpus": [torch.cuda.get_device_name(each) for each in range(2)],
        "samples": MOST,
        "only": [],
        "ended": sorted(name for name, rows in first.items() if rows is None),
        "of values": left_out,
        "operators": recorded,
        "snippets": {},
    }
    recordings.write(file, told)
    print(sum(len(rows) for pair in recorded.values() for rows in pair.values()), "rows,", left_out, "left out")
