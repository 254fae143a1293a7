"""Repair a copy of every case in `corpus/`, print the table, and fail where a row is worse than in `corpus/TABLE.md`.

usage: python benchmarks/corpus.py [--quick] [--write] [--jobs N] [--world real] [NAME ...]
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from cases import Case, Result, judge, read_case
from needed import need

CORPUS = Path(__file__).parents[1] / "corpus"
TABLE = CORPUS / "TABLE.md"
HEADS = ("case", "reproduced", "outcome", "as the case demands", "rules", "worlds", "copies", "edits", "seconds")
SHORT = {
    "cpu": "0",
    "cuda x1": "1",
    "cuda x2": "2",
    "cuda x2, current 1": "2'",
    "mps": "m",
    "xpu x1": "x",
    "xpu x2": "x2",
    "xpu x2, current 1": "x2'",
}


def main() -> int:
    """Print the table; 1 where a row is worse than the committed one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="cases (default: all)")
    parser.add_argument("--quick", action="store_true", help="the cases marked quick only")
    parser.add_argument("--write", action="store_true", help="write the rows into corpus/TABLE.md")
    parser.add_argument("--jobs", type=int, default=2)
    help_text = "real: on the GPUs of this machine, where they are enough; the table is neither read nor written"
    parser.add_argument("--world", choices=("simulated", "real"), default="simulated", help=help_text)
    parser.add_argument("--verbose", action="store_true", help="print the diff of each case that falls short")
    asked = parser.parse_args()
    need("devfix", "torch")
    cases = [read_case(path.parent) for path in sorted(CORPUS.glob("*/case.toml"))]
    unknown = set(asked.names) - {case.name for case in cases}
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}; the cases are the folders of corpus/")
    cases = [
        case for case in cases if (not asked.names or case.name in asked.names) and (case.quick or not asked.quick)
    ]
    if asked.world == "real":
        cases = on_real_gpus(cases)
    rows: dict[str, list[str]] = {}
    print(_line(HEADS), _line(["---"] * len(HEADS)), sep="\n")
    with ThreadPoolExecutor(asked.jobs) as pool:
        for result in pool.map(judge, cases):
            rows[result.case.name] = row(result)
            print(_line(rows[result.case.name]), flush=True)
            if asked.verbose and result.faults:
                print(result.diff, file=sys.stderr, flush=True)
    good = sum(cells[3] == "yes" for cells in rows.values())
    print(f"\n{good} of {len(rows)} as the case demands")
    if asked.world == "real":
        return 0 if good == len(rows) else 1
    committed = read_table()
    worse = [f"{name}: {why}" for name, cells in rows.items() for why in worse_than(committed.get(name), cells)]
    if asked.write:
        write_table({**committed, **rows} if asked.names or asked.quick else rows)
        return 0
    print(*(f"worse than the committed table: {each}" for each in worse), sep="\n")
    return 1 if worse else 0


def on_real_gpus(cases: list[Case]) -> list[Case]:
    """The cases of CUDA that this machine has enough GPUs for, to be run on them."""
    import torch

    count = torch.cuda.device_count()
    chosen = [case for case in cases if case.world == "simulated" and max(case.gpus, 1) <= count]
    if not chosen:
        sys.exit(f"--world real: the cases need a GPU of CUDA, and torch sees {count} here")
    return [replace(case, world="real") for case in chosen]


def row(result: Result) -> list[str]:
    """The cells of a result, in the order of HEADS."""
    worlds = " ".join(SHORT.get(name, name) + ("" if told == "clean" else "✗") for name, told in result.worlds.items())
    copies = f"{result.copies[0]} → {result.copies[1]}" if result.copies else ""
    demands = "no: " + ", ".join(result.faults) if result.faults else "yes"
    reproduced = "yes" if result.reproduced else "no" if result.case.outcome != "clean" else ""
    rules = ", ".join(dict.fromkeys(result.rules))
    cells = [result.case.name, reproduced, result.outcome, demands, rules, worlds, copies, str(result.edits)]
    return [*cells, f"{result.seconds:.1f}"]


def worse_than(before: list[str] | None, now: list[str]) -> list[str]:
    """In what a row is worse than the committed one; seconds are told, not judged. A new case must be right."""
    if before is None:
        return [] if now[3] == "yes" else [f"new, and not as the case demands ({now[3]})"]
    said = set(now[3].removeprefix("no: ").split(", ")) - set(before[3].removeprefix("no: ").split(", ")) - {"yes"}
    found = [f"falls short in {', '.join(sorted(said))}"] if said else []
    if before[1] == "yes" and now[1] != "yes":
        found.append("not reproduced any more")
    if _copies(now) > _copies(before):
        found.append(f"copies {before[6]} before, {now[6]} now")
    if int(now[7]) > int(before[7]) > 0:
        found.append(f"{before[7]} edits before, {now[7]} now")
    return found


def _copies(cells: list[str]) -> int:
    after = cells[6].rpartition("→")[2].strip()
    return int(after) if after else 0


def read_table() -> dict[str, list[str]]:
    """The rows of the committed table by case; none where there is no table yet."""
    lines = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.exists() else []
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return {cells[0]: cells for cells in rows if len(cells) == len(HEADS) and cells[0] not in ("case", "---")}


def write_table(rows: dict[str, list[str]]) -> None:
    """Write the table, and above it what it says."""
    ordered = [rows[name] for name in sorted(rows) if (CORPUS / name).is_dir()]
    good = sum(cells[3] == "yes" for cells in ordered)
    head = (
        "# What becomes of the corpus\n\n"
        "Written by `python benchmarks/corpus.py --write`; `make corpus` fails where a row gets worse.\n"
        "Worlds: 0, 1 and 2 simulated GPUs, 2' with the second one current, m mps, x xpu; ✗ where the program fails.\n"
        "Copies are those between host and devices in the world that failed, before the first fix (up to the failure)\n"
        f"and after the last. **{good} of {len(ordered)} as the case demands.**\n\n"
    )
    lines = [_line(HEADS), _line(["---"] * len(HEADS)), *(_line(cells) for cells in ordered)]
    TABLE.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


def _line(cells: list[str] | tuple[str, ...]) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    sys.exit(main())
