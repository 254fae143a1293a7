"""Change the code of a verdict and of what rules stand on, one place at a time, and see that a test fails each time.

    python scripts/mutate.py [verdict [MODULE ...]] [rules [MODULE ...]]

MODULE, such as `sdk/fixes/moves`, keeps a part to some of its modules.

Each change that no test sees must stand with a reason in tests/mutation/survivors.toml; one that does not, and a reason
for what is no longer there, end the run with an error. Needs mutmut (the extra `mutation`); works below build/.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
SURVIVORS = ROOT / "tests" / "mutation" / "survivors.toml"
REPLAY = ROOT / "tests" / "mutation" / "replay.py"
MUTANTS = ROOT / "tests" / "mutation" / "mutants.py"


@dataclass(frozen=True)
class Part:
    """The modules that are changed, and the tests that must notice; those of a replay are found by `mutants.py`."""

    modules: tuple[str, ...]
    tests: tuple[str, ...] = ()


RUN_CHECKS = ("computation", "operand_values", "suppression", "stdout")
CHECKED = ("candidate", "edit_map", *(f"checks/{name}" for name in RUN_CHECKS))
TESTED = ("candidate", "edit_map", "joint_fixes", "computation", "operand_values", "stdout", "suppression")
ASPECTS = ("announced_runs", "ended", "endings", "reasons", "review", "unseeded")
PARTS = {
    "verdict": Part(
        tuple(f"src/devfix/verification/{name}.py" for name in ("verifier", "classification", *CHECKED)),
        tuple(
            f"tests/verification/test_{name}.py"
            for name in ("verifier", "verifier_checks", "candidate_choice", *ASPECTS, *TESTED)
        ),
    ),
    "rules": Part(
        tuple(
            f"src/devfix/{name}/*.py" for name in ("sdk", "sdk/trace", "sdk/fixes", "source/queries", "source/edits")
        ),
    ),
}


@dataclass(frozen=True)
class Mutant:
    """A changed function, and its line (or lines) before and after."""

    function: str
    before: str
    after: str


def main() -> int:
    """Run the parts that were named, all by default; 1 where a mutant lives without a reason."""
    asked: dict[str, list[str]] = {}
    for word in sys.argv[1:] or list(PARTS):
        if word in PARTS:
            asked[word] = []
        elif asked and (ROOT / "src" / "devfix" / f"{word}.py").is_file():
            asked[list(asked)[-1]].append(f"src/devfix/{word}.py")
        else:
            raise SystemExit(f"{word}: neither a part ({', '.join(PARTS)}) nor a module of src/devfix")
    if len(asked) > 1:  # mutmut reads its configuration once
        own = [sys.executable, __file__]
        words = [
            [name, *(each.removeprefix("src/devfix/").removesuffix(".py") for each in asked[name])] for name in asked
        ]
        return max([subprocess.run([*own, *each]).returncode for each in words])
    parts = {
        name: replace(PARTS[name], modules=tuple(modules) or PARTS[name].modules) for name, modules in asked.items()
    }
    return max([judge(name, part, run(name, part)) for name, part in parts.items()])


def run(name: str, part: Part) -> Path:
    """Make the mutants in a copy and try them, and return the folder of the copy."""
    folder = ROOT / "build" / "mutation" / name
    shutil.rmtree(folder, ignore_errors=True)
    for each in ("src", "tests", "rules"):
        shutil.copytree(ROOT / each, folder / each, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "fuzz"))
    (folder / "pyproject.toml").write_text(settings(part))
    environment = {**os.environ, "DEVFIX_ROOT": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-m", "mutmut", "run", "--max-children", os.environ.get("DEVFIX_JOBS", "2")]
    if not part.tests:
        words = [sys.executable, str(MUTANTS), str(recorded())]
    with (folder / "log.txt").open("w") as log:
        if subprocess.run(words, cwd=folder, env=environment, stdout=log, stderr=log).returncode:
            raise SystemExit(f"the mutants cannot be tried: see {folder / 'log.txt'}")
    return folder


def recorded() -> Path:
    """The failures that are replayed; those recorded before are taken where nothing has changed since."""
    path = ROOT / "build" / "mutation" / "recorded.pickle"
    sources = [each for name in ("src", "rules", "corpus") for each in (ROOT / name).rglob("*.*") if each.is_file()]
    newest = max(each.stat().st_mtime for each in (*sources, REPLAY) if "__pycache__" not in each.parts)
    if not path.exists() or path.stat().st_mtime < newest:
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, str(REPLAY), str(path)], check=True)
    return path


def settings(part: Part) -> str:
    """Return the configuration of mutmut and of pytest for a part."""
    return f"""[tool.mutmut]
source_paths = ["src"]
only_mutate = {json.dumps(part.modules)}
also_copy = ["rules"]
pytest_add_cli_args_test_selection = {json.dumps(part.tests)}
pytest_add_cli_args = ["-p", "no:cacheprovider", "-p", "no:xdist"]
timeout_constant = 5.0
use_git_change_detection = false

[tool.pytest.ini_options]
addopts = "--import-mode=importlib"
pythonpath = ["tests/helpers"]
markers = ["slow: in make test-all", "exhaustive: in make test-exhaustive"]
"""


def judge(name: str, part: Part, folder: Path) -> int:
    """Hold what lives against the reasons that are written down, and print what is wrong."""
    counts, living = results(folder)
    known = {each for each in reasons() if belongs(each, part)}
    for mutant in sorted(living - known, key=lambda each: each.function):
        print(f"\n{mutant.function}\n  - {mutant.before}\n  + {mutant.after}")
    for mutant in sorted(known - living, key=lambda each: each.function):
        print(f"\nNo longer there, take it out of {SURVIVORS.name}: {mutant}")
    told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    print(f"\n{name}: {told}; {len(living - known)} live without a reason, {len(living & known)} with one")
    return int(living != known)


def results(folder: Path) -> tuple[Mapping[str, int], set[Mutant]]:
    """Return how many mutants ended in which way, and those that no test has noticed."""
    os.chdir(folder)
    from mutmut.models.results import StatsResult  # noqa: F401  (its modules import each other: this one comes first)
    from mutmut.mutation.data import SourceFileMutationData
    from mutmut.mutation.diff_apply import get_diff_for_mutant
    from mutmut.stats import status_by_exit_code
    from mutmut.utils.file_utils import walk_mutatable_files

    counts: dict[str, int] = {}
    living = set()
    for path in walk_mutatable_files():
        data = SourceFileMutationData(path=path)
        data.load()
        for key, code in data.exit_code_by_key.items():
            status = status_by_exit_code[code]
            counts[status] = counts.get(status, 0) + 1
            if status not in ("killed", "timeout", "caught by type check"):
                living.add(told(key, get_diff_for_mutant(key, path=path)))
    return counts, living


def told(key: str, diff: str) -> Mutant:
    """Make a record of mutmut's key ("module.x_function__mutmut_1") and difference."""
    name = key.partition("__mutmut_")[0].replace("xǁ", "").replace("ǁ", ".").replace(".x_", ".")
    sides = {"-": [], "+": []}
    for line in diff.splitlines()[3:]:
        if line[:1] in sides:
            sides[line[0]].append(line[1:].strip())
    return Mutant(name, " ".join(sides["-"]), " ".join(sides["+"]))


def reasons() -> Iterator[Mutant]:
    """Yield the mutants that may live."""
    for function, rows in tomllib.loads(SURVIVORS.read_text()).items():
        for row in rows:
            assert len(row["why"]) > 10, f"{function}: a reason is missing"
            yield Mutant(function, row["before"], row["after"])


def belongs(mutant: Mutant, part: Part) -> bool:
    """Say whether a mutant's module is one of a part's."""
    modules = [
        module.removeprefix("src/").replace("/", ".").removesuffix(".py").removesuffix("*") for module in part.modules
    ]
    return any(mutant.function.startswith(f"{module.rstrip('.')}.") for module in modules)


if __name__ == "__main__":
    sys.exit(main())
