"""A repair whose fixes are verified, and go nowhere before somebody has said where."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from devfix.model import Fix, Outcome, Patch, RegressionTest, Repair, Report, Run, Safety, Taking
from devfix.model.report import ReportOutcome
from devfix.notes import Notes
from devfix.pipeline.obstacles import obstacle_of
from devfix.pipeline.opening.options import RepairOptions
from devfix.pipeline.opening.session import Session
from devfix.pipeline.regression_tests import add_regression_tests
from devfix.pipeline.searching.choices import Choice, NoCandidateError
from devfix.pipeline.searching.combine import combine_fixes
from devfix.pipeline.searching.search import FailureKey, Search, failure_key
from devfix.pipeline.third_party import find_dependency_fault
from devfix.pipeline.warnings import confirmed_warnings
from devfix.registry import Rule
from devfix.report.render.pull_request.commit_message import commit_message, test_message
from devfix.source.text import first_difference
from devfix.workspace.applied.apply import CannotApplyError, apply_changes


class OpenRepair:
    """Verified fixes and their report; other candidates can be chosen until the fixes are taken.

    `report` has neither a branch nor changed files before `take` is called.
    """

    def __init__(
        self, session: Session, options: RepairOptions, rules: Sequence[Rule], began: float, asks: bool
    ) -> None:
        """Search for fixes; `began` is when the repair did, and `asks`: the caller may choose other candidates."""
        self._session, self._options, self._began = session, options, began
        repeats = asks or bool(options.candidates)
        self._search = Search(session, options.max_fixes_in(session.config), rules, repeats)
        self.report = self._search_with_tests()
        self._searched_for = time.monotonic() - began
        for failure, number in sorted(options.candidates.items()):
            self._choose_number(failure, number)

    @property
    def is_kept(self) -> bool:
        """True if there are fixes to take: all failures are fixed, or `partial` allows for a remaining one."""
        return bool(self._search.fixes) and (self._options.partial or not self._search.is_stuck)

    def next_candidate(self, failure: int) -> None:
        """Keep the next verified candidate for a failure (1 is the first of the report).

        Raises NoCandidateError, with everything as before, if there is none with which the repair holds.
        """
        known = self._search.choices.get(self._key(failure), Choice())
        self._choose(failure, Choice(known.number + 1))

    def edit(self, failure: int, files: Mapping[str, bytes]) -> None:
        """Replace the fix of a failure by other contents of the files that it changes, if that is verified as well.

        Raises NoCandidateError, with everything as before, if it is not.
        """
        fix = self.fix(failure)
        edits = tuple(
            replace(edit, line=first_difference(edit.before, files[edit.path]), after=files[edit.path])
            for edit in fix.patch.edits
            if files[edit.path] != edit.before
        )
        if not edits:
            raise NoCandidateError("the edited files are those before the fix")
        if edits == fix.patch.edits:
            raise NoCandidateError("nothing was edited")
        title = fix.patch.title.removesuffix(_EDITED) + _EDITED
        number = self._search.choices.get(self._key(failure), Choice()).number
        patch: Patch = replace(fix.patch, title=title, edits=edits, safety=Safety.UNSURE)
        self._choose(failure, Choice(number, patch))

    def fix(self, failure: int) -> Fix:
        """Return the fix of a failure (1 is the first of the report). Raises NoCandidateError if it has none."""
        repairs = self.report.repairs
        fix = repairs[failure - 1].fix if 0 < failure <= len(repairs) else None
        if fix is None:
            raise NoCandidateError(f"there is no failure {failure} with a fix")
        return fix

    def take(self, taking: Taking) -> Report:
        """Put the fixes where `taking` says and return the report, which then says so.

        Raises CannotApplyError, with everything as before, if they cannot be written to the working tree.
        """
        session = self._session
        if not self.is_kept or taking is Taking.NONE:
            return self._add_times()
        if taking is Taking.APPLY:
            written = apply_changes(session.repository, self._files(), session.command_text)
            self.report = replace(self.report, applied=written)
        else:
            with session.seconds.measure("branch"):
                commits, name = _publish(session, self._search, self._options.branch)
            self.report = replace(self.report, branch=name, commits=tuple(commits))
        return self._add_times()

    def take_or_explain(self, taking: Taking) -> Report:
        """Take the fixes; where they cannot be applied, the report says why."""
        try:
            return self.take(taking)
        except CannotApplyError as error:
            self.report = replace(self.report, not_applied=str(error))
            return self._add_times()

    def _add_times(self) -> Report:
        """Return the report with the times of its steps; the time in which somebody decides does not count."""
        self.report = replace(self.report, mapped=self._run_device_maps())
        seconds = self._session.seconds
        total = round(self._searched_for + seconds.get("branch", 0.0), 3)
        return replace(self.report, seconds={**seconds, "total": total})

    def _run_device_maps(self) -> tuple[Run, ...]:
        """Return runs without the fixes and with them, in which the devices of all modules were recorded."""
        session = self._session
        if not self._options.device_map:
            return ()
        states: list[dict[str, bytes]] = [{}, dict(session.files)] if session.files else [{}]
        session.progress("mapping the devices of modules")
        with session.seconds.measure("map"):
            return tuple(session.observer.run(session.world, files, device_map=True, totals=False) for files in states)

    def _files(self) -> dict[str, bytes]:
        """Return the contents of all changed and new files."""
        tests = [each.regression_test for each in self._search.repairs if each.fix and each.regression_test]
        return {**self._session.files, **{test.path: test.text.encode() for test in tests}}

    def _key(self, failure: int) -> FailureKey:
        self.fix(failure)
        return failure_key(self.report.repairs[failure - 1].failure)

    def _choose_number(self, failure: int, number: int) -> None:
        try:
            self._choose(failure, Choice(number))
        except NoCandidateError as error:
            raise NoCandidateError(f"--candidate {failure}:{number}: {error}") from error

    def _choose(self, failure: int, choice: Choice) -> None:
        """Repeat the search with a choice; without success, restore what there was before it."""
        search, key = self._search, self._key(failure)
        before = (search.repairs, self._session.files, search.is_stuck, dict(search.choices), self.report)
        notes, began = Notes(self._session.notes), time.monotonic()
        search.choices[key] = choice
        self._session.progress("verifying the edited fix" if choice.patch else "verifying the next candidate")
        try:
            self.report = self._search_with_tests()
            if not self.is_kept:
                raise NoCandidateError("with it, a later failure could not be fixed")
            self._searched_for += time.monotonic() - began
        except BaseException:
            self._session.notes = notes
            search.repairs, self._session.files, search.is_stuck, search.choices, self.report = before
            raise

    def _search_with_tests(self) -> Report:
        """Search with the choices so far, add tests, and return the report."""
        session, loop, options = self._session, self._search, self._options
        final = loop.repair()
        loop.repairs = combine_fixes(loop.repairs, session.worktrees.diff)
        session.notes.add(*(f"{failure}; to repair that too: --include-handled" for failure in final.caught[:3]))
        if final.logged is not None and final.outcome is not Outcome.OTHER:
            loop.repairs.append(Repair(final.logged, (), None))
        fault = (
            find_dependency_fault(session, final, loop.rules, options.find_working_version) if loop.is_stuck else None
        )
        with session.seconds.measure("doubt"), session.optional("the warnings of rules were confirmed"):
            session.notes.add(*confirmed_warnings(session, loop.rules, final))
        if self.is_kept:
            with session.seconds.measure("guard"):
                loop.repairs = add_regression_tests(session, loop.repairs, final.seconds)
        elif loop.fixes:
            count = f"{len(loop.fixes)} fix{'es' if len(loop.fixes) > 1 else ''}"
            session.notes.add(f"nothing is kept, since a failure remains; --partial keeps the {count} proven before it")
        return Report(
            outcome=_outcome(loop, final, fault is not None, options.partial),
            world=final.world,
            command=session.command_text,
            root=str(session.repository.root),
            commit=session.repository.commit,
            repairs=tuple(loop.repairs),
            diff=session.diff(),
            notes=tuple(session.notes),
            last_run=final,
            dependency_fault=fault,
            subfolder=session.target.subfolder,
            until=session.target.until,
            gpus_needed=session.gpus_needed,
            others=loop.others,
            obstacle=obstacle_of(session, final),
        )


_EDITED = " (edited)"


def _outcome(loop: Search, final: Run, is_in_dependency: bool, partial: bool) -> ReportOutcome:
    if loop.is_stuck and loop.fixes and partial:
        return "partial"
    if is_in_dependency:
        return "dependency-fault"
    if final.outcome is Outcome.CLEAN:
        if final.logged is not None:
            return "unrepaired"
        return "repaired" if loop.fixes else "clean"
    if final.outcome is Outcome.OTHER and loop.fixes and loop.fixes[-1].verdict.outcome == "verified":
        return "repaired"  # the remaining failure also occurs without a GPU
    if final.outcome in (Outcome.TIMEOUT, Outcome.SIGNAL, Outcome.NOT_STARTED, Outcome.UNOBSERVED):
        return "error"
    return "unrepaired"


def _publish(session: Session, loop: Search, branch: str | None) -> tuple[list[str], str]:
    """Write one commit for each fix and create the branch in the repository."""
    commits = []
    for repair in loop.repairs:
        if repair.fix:
            files = {edit.path: edit.after for edit in repair.fix.patch.edits}
            message = commit_message(repair.failure, repair.fix, session.command_text, session.world)
            commits.append(session.worktrees.commit(files, message))
            for guard, guards in _tests(loop.repairs, loop.fixes.index(repair.fix)):
                commits.append(session.worktrees.commit({guard.path: guard.text.encode()}, test_message(guard, guards)))
    name = branch or f"devfix/{_slug(loop.fixes[0])}"
    return commits, session.worktrees.publish(name, exactly=branch is not None)


def _tests(repairs: Sequence[Repair], fix: int) -> Iterator[tuple[RegressionTest, Fix]]:
    """Yield the tests that pass from a fix on, each with the fix that it tests."""
    for repair in repairs:
        if repair.fix and repair.regression_test and repair.regression_test.passes_after_fix == fix:
            yield repair.regression_test, repair.fix


def _slug(fix: Fix) -> str:
    stem = Path(fix.patch.edits[0].path).stem.strip("_").lower() or "fix"
    return f"{fix.patch.rule.split('/')[-1]}-{stem}".replace("_", "-")
