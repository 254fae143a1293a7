"""What all rules make of recorded failures, and what the examples in `devfix.sdk` say: no program is run for either.

The failures are those of the rules' pages and of the corpus. Every rule must say and propose, word for word, all that
it did before the code was changed; the rule of a page must propose what the page demands. `scripts/mutate.py` records
the failures (`python replay.py FILE`), and `mutants.py` beside this file calls the checks.
"""

from __future__ import annotations

import doctest
import os
import pickle
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import libcst

from devfix import sdk
from devfix.diagnosis.diagnose import diagnose
from devfix.diagnosis.propose import propose
from devfix.diagnosis.resolve_temporaries import resolve_temporaries
from devfix.execution import TracedRunner
from devfix.model import Failure, Target, World
from devfix.notes import Notes
from devfix.process import child_environment
from devfix.registry.files import rule_files
from devfix.registry.loading import rule_at
from devfix.registry.rule import Rule
from devfix.rule_testing.checking.folders import Folders
from devfix.rule_testing.pages.page import read_page
from devfix.sdk import Sources
from devfix.sdk.trace.sites import locations_without_scope

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

REFERENCE = "docs/reference/sdk.md"
ROOT = Path(os.environ.get("DEVFIX_ROOT", Path(__file__).resolve().parents[2]))


@dataclass(frozen=True)
class Recorded:
    """A failure, the editable files of its program, and all that is made of it.

    `page` is the rule on whose page it is, `after` what the page demands, None where the rule must do nothing.
    """

    failure: Failure
    files: Mapping[str, bytes]
    made: Mapping[str, Any] = field(default_factory=dict)
    page: str = ""
    options: Mapping[str, Any] | None = None
    after: Mapping[str, bytes] | None = None

    @property
    def sources(self) -> Sources:
        """The editable files of the program, as a repair has them: found by what they contain, too."""
        return Sources(self.files.get, self._containing)

    def _containing(self, texts: Sequence[str]) -> list[str]:
        return [path for path, data in sorted(self.files.items()) if any(text.encode() in data for text in texts)]


def record(path: Path) -> None:
    """Run every case of the pages and of the corpus, and write the failures to a file."""
    found = dict([*_of_the_reference(), *_of_pages(), *_of_corpus()])
    made = {name: {word: ask() for word, ask in asked(each, each.sources).items()} for name, each in found.items()}
    path.write_bytes(pickle.dumps({name: {**vars(each), "made": made[name]} for name, each in found.items()}))


def _of_pages() -> Iterator[tuple[str, Recorded]]:
    from devfix.rule_testing.checking.runner import Bench

    with Bench(Path(sys.executable)) as bench:
        for file in rule_files(ROOT / "rules"):
            for case in read_page(file.with_suffix(".md")).cases:
                failure = bench.failure(case) if case.failure is not None else None
                if failure is not None:
                    after = None if case.after is None else case.after_all
                    name = rule_at(file).id
                    yield f"{name}-{case.line}", Recorded(failure, case.before, {}, name, dict(case.options), after)


def _of_corpus() -> Iterator[tuple[str, Recorded]]:
    from devfix.execution.prefork import PreforkServer

    warm = PreforkServer(Path(sys.executable), child_environment())
    try:
        for about in sorted((ROOT / "corpus").glob("*/case.toml")):
            said = tomllib.loads(about.read_text(encoding="utf-8"))
            every = {str(each.relative_to(about.parent)): each for each in about.parent.rglob("*") if each.is_file()}
            files = {name: each.read_bytes() for name, each in every.items() if "__pycache__" not in name}
            with tempfile.TemporaryDirectory() as folder:
                words = shlex.split(said.get("run", "python main.py"))
                failure = _failure(Path(folder), words, World("simulated", said.get("gpus", 1)), files, warm)
            if failure is not None:
                yield f"corpus/{about.parent.name}", Recorded(failure, files)
    finally:
        warm.close()


def _failure(folder: Path, words: list[str], world: World, files: Mapping[str, bytes], warm: Any) -> Failure | None:
    python = Path(sys.executable)
    target = Target(folder, "", (str(python), *words[1:]), python=python, world=world, timeout=60.0)
    observer = TracedRunner(target, Folders(folder, files), frozenset(files), warm)
    failure = observer.run(world, fresh=False).failure
    watch = list(locations_without_scope(failure)) if failure is not None else []
    again = observer.run(world, watch=watch, fresh=False) if watch else None
    return replace(again.failure, scopes=again.watched) if again is not None and again.failure is not None else failure


def _of_the_reference() -> Iterator[tuple[str, Recorded]]:
    """The failure that the examples in docstrings speak of: of the program in docs/reference/sdk.md."""
    from devfix.execution.prefork import PreforkServer

    program = re.findall(r"```python\n(.*?)```", (ROOT / REFERENCE).read_text("utf-8"), re.DOTALL)[0]
    files = {"main.py": program.encode()}
    warm = PreforkServer(Path(sys.executable), child_environment())
    with tempfile.TemporaryDirectory() as folder:
        failure = _failure(Path(folder), ["python", "main.py"], World("simulated", 1), files, warm)
    warm.close()
    assert failure is not None
    yield REFERENCE, Recorded(failure, files)


def asked(each: Recorded, source: Sources) -> dict[str, Callable[[], Any]]:
    """What can be asked of a failure, by name: each rule, what must be looked at again, and what its page demands."""
    given = resolve_temporaries(each.failure, source)
    rules = {rule.id: partial(said, rule, given, source) for rule in every_rule()}
    own = [rule.with_options(each.options or {}) for rule in every_rule() if rule.id == each.page]
    page = {"page": partial(demanded, own[0], each, source)} if own else {}
    again = partial(lambda failure: tuple(locations_without_scope(failure)), replace(given, scopes=()))
    return {"given": partial(resolve_temporaries, each.failure, source), "again": again, **page, **rules}


@cache
def every_rule() -> list[Rule]:
    """The rules of this repository; they are read once."""
    return [rule_at(file) for file in rule_files(ROOT / "rules")]


def said(rule: Rule, failure: Failure, source: Sources) -> tuple[Any, ...]:
    """The blame of a rule and the patches that it proposes, in their order."""
    source.notes = Notes()  # of this rule alone, whichever were asked before
    diagnoses = diagnose(failure, [rule], source)
    patches = list(propose(diagnoses, {rule.id: rule}, source))
    return tuple(each.finding for each in diagnoses), tuple(patches), tuple(source.notes)


def demanded(rule: Rule, each: Recorded, source: Sources) -> tuple[Any, ...]:
    """What the page's rule says, and whether that is what the page demands."""
    found = said(rule, each.failure, source)
    first = {edit.path: edit.after for edit in found[1][0].edits} if found[1] else {}
    return found, not found[1] if each.after is None else {**each.files, **first} == each.after


def same(ask: Callable[[], Any], before: Any) -> bool:
    """Whether what is said now was said before."""
    return bool(ask() == before)


def exemplified(name: str, about: Recorded) -> bool:
    """Whether a public name's example is true."""
    public = {name: getattr(sdk, name) for name in sdk.__all__}
    source = about.sources
    rules = [rule for rule in every_rule() if rule.id == "placement/factory-without-device"]
    (diagnosis,) = diagnose(about.failure, rules, source)
    ctx = sdk.Context(about.failure, source, diagnosis.finding)
    known = {"failure": about.failure, "diagnosis": diagnosis, "source": source, "ctx": ctx}
    names = {**public, "cst": libcst, **known}
    example = doctest.DocTestParser().get_doctest(getattr(sdk, name).__doc__ or "", names, name, "", 0)
    return doctest.DocTestRunner(verbose=False).run(example, out=lambda text: None).failed == 0


def checks(path: Path) -> dict[str, Callable[[], bool]]:
    """What must be true, by name, quick ones first."""
    found = {name: Recorded(**each) for name, each in pickle.loads(path.read_bytes()).items()}
    about = found.pop(REFERENCE)
    # A thread and a time for each call are for other people's rules; a change that hangs is ended from outside.
    for name in ("diagnose", "propose"):
        sys.modules[f"devfix.diagnosis.{name}"].within = lambda seconds, function: function()  # type: ignore[attr-defined]
    examples = {
        f"sdk.{name}": partial(exemplified, name, about) for name in sdk.__all__ if callable(getattr(sdk, name))
    }
    replays = {
        f"{name}:{word}": partial(same, ask, each.made[word])
        for name, each in found.items()
        for word, ask in asked(each, each.sources).items()
    }
    return {**examples, **replays}


if __name__ == "__main__":
    record(Path(sys.argv[1]))
