"""Conventions that no other tool checks."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 300  # lines
FULLEST = 17  # modules of a folder; one of twenty subjects shows none of them
TOP = {
    *(".ci", ".github", ".gitignore", ".gitlab", ".pre-commit-config.yaml", "Makefile", "action.yml"),
    *("CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md"),
    *("constraints.txt", "pyproject.toml", "setup.py", "zensical.toml"),
    *("benchmarks", "corpus", "docs", "examples", "rules", "scripts", "src", "templates", "tests"),
}
PROBE_MAY = {"torch", "process_tree"}  # the latter lies beside the server, which is a script
NAMELESS = {"utils", "util", "core", "base", "manager", "context", "misc", "common"}


def files(*suffixes: str) -> list[Path]:
    """The files of the repository as git knows them, so that environments and caches do not count."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    return [path for name in listed if name.endswith(suffixes) and (path := ROOT / name).is_file()]


def python_below(folder: str) -> list[Path]:
    found = sorted((ROOT / folder).rglob("*.py"))
    assert found, f"{folder} has no Python files: has it moved?"
    return found


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


def imports(path: Path) -> Iterator[str]:
    """The full names of the modules that a file imports, anywhere in it; relative ones start with a dot."""
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def undeclared(path: Path, allowed: set[str]) -> list[str]:
    """The imports that are neither allowed, nor relative, nor of the standard library."""
    return [
        name
        for name in imports(path)
        if not name.startswith(".")
        and name.split(".")[0] not in sys.stdlib_module_names
        and not any(name == known or name.startswith(f"{known}.") for known in allowed)
    ]


def test_files_fit_the_eye() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files(".py")}
    long = {path: length for path, length in lengths.items() if length > LONGEST}
    assert not long


def test_folders_have_one_subject() -> None:
    """`__init__.py` does not count."""
    modules = [path for folder in ("src/devfix", "rules") for path in python_below(folder) if path.stem != "__init__"]
    sizes = Counter(str(path.parent.relative_to(ROOT)) for path in modules)
    assert len(sizes) > 50 and not {folder: size for folder, size in sizes.items() if size > FULLEST}


def test_nothing_else_is_at_the_top() -> None:
    """What a program run from here leaves behind is committed by mistake."""
    assert {path.relative_to(ROOT).parts[0] for path in files("")} == TOP


def test_names_say_something() -> None:
    places = [path for path in files(".py") if "corpus" not in path.parts]
    assert not [path for path in places if path.stem in NAMELESS or path.parent.name in NAMELESS]


# In halves, so that this file does not have them.
REPLACED = (
    ("to", "wer"), ("gar", "den"), ("out", "post"), ("kee", "per"),
    ("me", "nd"), ("me", "nded"), ("men", "ding"), ("an", "ew"), ("as", "tray"), ("whi", "ther"),
    ("la", "me"), ("in_", "vain"), ("held", "_as"), ("not-", "yours"), ("in", " vain"),
    ("bi", "rth"), ("bo", "rn"), ("its", " like"),
    ("trou", "ble"), ("tal", "ly"), ("wi", "shes"), ("rene", "wal"),
    ("sp", "ot"), ("blames", "_held"), ("blames", "_intentional"),
)  # fmt: skip


def test_no_replaced_word_is_used() -> None:
    """docs/reference/glossary.md has the words that stand for these; decisions of their time keep them."""
    # Also as a part of a name: `old_word`, `_OldWord`.
    words = "|".join(first + second for first, second in REPLACED)
    replaced = re.compile(rf"(?<![a-z])(?:{words})s?(?![a-z])", re.I)
    names = ("src", "rules", "docs", "tests", "scripts", "benchmarks", "README.md", "CONTRIBUTING.md")
    places = [ROOT / name for name in names]
    texts = [path for path in files("") if any(path.is_relative_to(place) for place in places)]
    # The programs in the pages of rules have names of their own.
    texts = [path for path in texts if not (path.is_relative_to(ROOT / "rules") and path.suffix == ".md")]
    texts = [path for path in texts if "adr" not in path.parts and b"\0" not in path.read_bytes()[:4096]]
    assert not [path for path in texts if replaced.search(path.read_text("utf-8", "replace"))]


CLAUSE = re.compile(r"(?:Whether|What|How|Where|Which|Who|When)\b")


def test_docstrings_start_with_a_verb_or_a_noun_phrase() -> None:
    """`Return whether it moves` says what one gets; `Whether it moves` leaves that to the reader."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    trees = {path: tree_of(path) for folder in ("src/devfix", "rules") for path in python_below(folder)}
    documented = ((path, node) for path, tree in trees.items() for node in ast.walk(tree) if isinstance(node, kinds))
    assert not [(path.name, text) for path, node in documented if CLAUSE.match(text := ast.get_docstring(node) or "")]


# Irregular participles that are no other form of a verb, as `set` and `run` are; regular ones end in "ed".
PARTICIPLES = re.compile(
    r"begun|bought|bound|broken|brought|built|caught|chosen|done|drawn|fed|felt|forgotten|found|frozen|given|"
    r"gone|grown|held|hidden|hung|kept|known|laid|led|left|lent|lost|made|meant|met|paid|said|seen|sent|shaken|"
    r"shown|sold|spent|spoken|stolen|struck|stuck|sung|swum|taken|taught|thought|thrown|told|torn|understood|"
    r"woken|won|worn|wound|written|asked|ran"
)
VERBS = {"embed", "exceed", "feed", "need", "proceed", "seed", "shed"}


def test_functions_are_named_by_what_they_do_or_return() -> None:
    """A bare participle (`moved`) says neither; properties are exempt, and so are functions in a function."""
    trees = {path: tree_of(path) for folder in ("src/devfix", "rules") for path in python_below(folder)}
    scopes = [(path, each) for path, tree in trees.items() for each in (tree, *classes_in(tree))]
    functions = [(path, node) for path, scope in scopes for node in scope.body if isinstance(node, ast.FunctionDef)]
    named = [
        (path.name, node.name)
        for path, node in functions
        if not any("property" in ast.unparse(each) for each in node.decorator_list)
    ]
    assert not [each for each in named if is_participle(each[1].strip("_"))]


def classes_in(tree: ast.Module) -> list[ast.ClassDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


def is_participle(name: str) -> bool:
    return PARTICIPLES.fullmatch(name) is not None or (name.endswith("ed") and "_" not in name and name not in VERBS)


def test_the_probe_knows_torch_and_the_standard_library_only() -> None:
    found = {path.name: names for path in python_below("src/devfix/probe") if (names := undeclared(path, PROBE_MAY))}
    assert not found


def test_what_the_engine_imports_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    names = ("publish", "gitlab", "forgejo", "environments", "fleet")
    lines = [*project["dependencies"], *(line for name in names for line in extras[name])]
    declared = {re.split(r"[^\w-]", line)[0].lower() for line in lines} - {
        "hishel",
        "devfix",
    }  # named to be held back; itself
    # The probe and the host of notebooks run in the program's interpreter.
    engine = [path for path in python_below("src/devfix") if {"probe", "host"}.isdisjoint(path.relative_to(ROOT).parts)]
    used = {name.split(".")[0] for path in engine for name in undeclared(path, {"devfix"})}
    # The first four are scripts beside the supervisor; the others come with the suite under test, or are not needed.
    used -= {"mounts", "limit_monitor", "process_tree", "witness", "pytest", "torch"}
    provided = packages_distributions()
    assert {name.lower() for module in used for name in provided.get(module, [module])} == declared | ({"tomli"} & used)


def test_git_is_spoken_in_the_workspace_alone() -> None:
    """So that one place decides what git may run, and `devfix --help` does not wait for GitPython."""
    speakers = {
        path for path in python_below("src/devfix") if {"git", "gitdb"} & {n.split(".")[0] for n in imports(path)}
    }
    assert speakers and all(path.is_relative_to(ROOT / "src/devfix/workspace") for path in speakers)


def test_rules_import_the_rule_api_alone() -> None:
    found = {
        path.name: names for path in python_below("rules") if (names := undeclared(path, {"devfix.sdk", "libcst"}))
    }
    assert not found


def test_each_rule_has_its_page_and_each_pack_its_entry_point() -> None:
    rules = [path for path in python_below("rules") if not path.name.startswith("_")]
    rules += sorted((ROOT / "rules").rglob("*.toml"))
    assert not [path.name for path in rules if not path.with_suffix(".md").is_file()]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    packs = {path.parent.name.replace("_", "-"): f"devfix_rules.{path.parent.name}" for path in rules}
    assert project["entry-points"]["devfix.rules"] == packs


def test_nothing_speaks_of_one_machine_or_one_registry() -> None:
    machine = re.compile(r"(?<![\w.])/(?:" + "|".join(["wo" + "rk", "ro" + "ot", "op" + "t"]) + r")/")
    registry = re.compile("|".join(["py" + r"pi\.org", "python" + "hosted", "download.py" + "torch"]))
    texts = [path for path in files("") if b"\0" not in path.read_bytes()[:4096]]
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in texts
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1)
        if machine.search(line) or registry.search(line)
    ]
    assert not found


WALL_CLOCKS = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "time", "time_ns"}
ENDED_BY_A_CLOCK = {"run", "check_output", "check_call", "call", "communicate", "wait", "wait_for", "join", "get"}
ENDED_BY_A_CLOCK |= {"runpytest_subprocess", "HTTPConnection", "create_connection"}


def judging_by_the_clock(path: Path) -> Iterator[int]:
    """The lines of a file that read a clock on the wall, or that end what they wait for after some seconds."""
    for node in ast.walk(tree_of(path)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        owner = node.func.value.id if isinstance(node.func.value, ast.Name) else ""
        limits = [each.value for each in node.keywords if each.arg == "timeout"]
        if owner == "time" and node.func.attr in WALL_CLOCKS:
            yield node.lineno
        if node.func.attr in ENDED_BY_A_CLOCK and any(isinstance(limit, ast.Constant) for limit in limits):
            yield node.lineno


def test_no_test_judges_by_the_clock() -> None:
    """A busy machine takes ten times as long; tests/helpers/waiting.py says how to wait for what happens."""
    tests = [path for path in files(".py") if (path.relative_to(ROOT)).parts[0] == "tests"]
    found = {
        path.relative_to(ROOT / "tests").as_posix(): lines for path in tests if (lines := [*judging_by_the_clock(path)])
    }
    # Two readings of one clock around a run, which must hold what the run says; and the time that each mutant takes.
    assert found.keys() == {"process/test_run.py", "mutation/mutants.py"}, found
    assert len(found["process/test_run.py"]) == 2


def test_layers_import_what_is_below() -> None:
    command = Path(sys.executable).with_name("lint-imports")
    if not command.exists():
        pytest.skip("import-linter is not installed beside this interpreter")
    done = subprocess.run([command, "--no-cache"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
