"""Repair real faults of public repositories, and show each fix beside the one that people made.

usage: python benchmarks/real_cases.py SPECS.jsonl --assemble assemble.py --clones FOLDER [--only ID ...] [--out FOLDER]

SPECS describes one fault a line (id, repo, parent and fix revision, what to take, a driver, kind); the assembler makes
a small repository of one. FOLDER holds the clones, `owner+name/repo`, `owner/name` or `name`. What is made holds
upstream's code: it goes to a temporary folder, or to `--out`, and never into this repository.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from needed import need
from repairs import branch_diff, repair

HEADS = ("case", "category", "reproduced", "repaired", "rules", "our idiom", "people's idiom", "worlds", "seconds")
ARGUMENTS = ["--run", "python main.py", "--exclude", "main.py", "--gpus", "2", "--world", "simulated"]


@dataclass(frozen=True)
class Bench:
    """Where specs, assembler, clones and results are."""

    specs: Path
    assemble: Path
    clones: Path
    out: Path

    def clone(self, repository: str) -> Path:
        """The clone of a repository. Raises FileNotFoundError with the places looked at."""
        names = (repository.replace("/", "+") + "/repo", repository, repository.split("/")[-1])
        found = next((self.clones / name for name in names if (self.clones / name).is_dir()), None)
        if found is None:
            raise FileNotFoundError(f"no clone of {repository} in {self.clones}: make it as {' or '.join(names)}")
        return found

    def make(self, spec: dict[str, Any], revision: str) -> Path:
        """The repository of a case at a revision, created for each call."""
        folder = self.out / revision / spec["id"]
        command = [sys.executable, self.assemble, self.specs, spec["id"], "--git", self.clone(spec["repo"])]
        subprocess.run([*command, "--rev", revision, "--out", folder], check=True, capture_output=True)
        return folder

    def run(self, spec: dict[str, Any]) -> dict[str, Any]:
        """Repair one case; the report with `id`, `took`, our `branch_diff` and people's `human_diff` beside."""
        folder, fixed = self.make(spec, "parent"), self.make(spec, "fix")
        report, seconds = repair(folder, ARGUMENTS)
        both = ("git", "diff", "--no-index", "--unified=1", folder / "subject.py", fixed / "subject.py")
        human = subprocess.run(both, capture_output=True, text=True).stdout
        more = {"id": spec["id"], "took": round(seconds, 1), "human_diff": human}
        return {**report, **more, "branch_diff": branch_diff(folder, report)}


def main() -> int:
    """Print the table; 1 where a case that raises was not repaired."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("specs", type=Path)
    parser.add_argument("--assemble", type=Path, required=True)
    parser.add_argument("--clones", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--out", type=Path, help="keep repositories, reports and diffs here")
    asked = parser.parse_args()
    need("devfix", "torch")
    specs = [json.loads(line) for line in asked.specs.read_text(encoding="utf-8").splitlines()]
    specs = [each for each in specs if each["kind"] == "raises" and (not asked.only or each["id"] in asked.only)]
    with tempfile.TemporaryDirectory(prefix="devfix-real-") as temporary:
        bench = Bench(asked.specs, asked.assemble, asked.clones, asked.out or Path(temporary))
        print("| " + " | ".join(HEADS) + " |", "|" + " --- |" * len(HEADS), sep="\n")
        reports = []
        with ThreadPoolExecutor(2) as pool:
            for spec, report in zip(specs, pool.map(bench.run, specs), strict=True):
                reports.append(report)
                print(row(spec, report), flush=True)
                if asked.out:
                    keep(asked.out, report)
    seen = sum(bool(each.get("failures")) for each in reports)
    repaired = sum(each["outcome"] == "repaired" for each in reports)
    print(f"\nreproduced {seen}, repaired {repaired} of {len(reports)}")
    return 0 if repaired == len(reports) else 1


def row(spec: dict[str, Any], report: dict[str, Any]) -> str:
    """One case as a line of the table."""
    fixes = report.get("fixes", [])
    worlds = fixes[-1]["verdict"]["worlds"] if fixes else {}
    cells = (
        spec["id"],
        spec["category"],
        "yes" if report.get("failures") else "no",
        "yes" if report["outcome"] == "repaired" else report["outcome"],
        ", ".join(dict.fromkeys(fix["rule"] for fix in fixes)),
        "; ".join(dict.fromkeys(fix["title"] for fix in fixes)).replace("|", "\\|"),
        spec["human_fix"],
        "all"
        if worlds and set(worlds.values()) == {"clean"}
        else " ".join(k for k, v in worlds.items() if v == "clean"),
        str(report["took"]),
    )
    return "| " + " | ".join(cells) + " |"


def keep(folder: Path, report: dict[str, Any]) -> None:
    """Write a report, and both diffs one below the other."""
    name = folder / "reports" / report["id"]
    name.parent.mkdir(parents=True, exist_ok=True)
    name.with_suffix(".json").write_text(json.dumps(report, indent=1), encoding="utf-8")
    ours = report["branch_diff"] or "\n".join(report.get("notes", []))
    name.with_suffix(".diff").write_text(f"OURS\n{ours}\nPEOPLE'S\n{report['human_diff']}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
