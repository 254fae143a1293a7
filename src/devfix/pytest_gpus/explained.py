"""A test's device failure as the session's report has it: its record, what a rule says of it, and a proposed change."""

from __future__ import annotations

import json
from functools import cached_property
from pathlib import Path

import msgspec

from devfix.config import read_config
from devfix.diagnosis.diagnose import diagnose
from devfix.diagnosis.propose import propose
from devfix.diagnosis.resolve_temporaries import resolve_temporaries
from devfix.errors import UserError
from devfix.model import Diagnosis, Failure, Patch
from devfix.pytest_gpus.diagnosis_section import lines
from devfix.registry import Catalog, collect
from devfix.registry.selection import rules_for
from devfix.report.diff import format_diff, split_cells
from devfix.report.failure_record import failure_record
from devfix.report.suite_types import ProposedChangeRecord
from devfix.report.types import EditRecord
from devfix.sdk import Sources


class FailureExplainer:
    """Explains the failures of one process; a failure that many tests reach is given to the rules once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._known: dict[tuple[str, ...], tuple[Diagnosis | None, Patch | None]] = {}

    def explain(self, failure: Failure, with_proposal: bool, command: str) -> str:
        """Return a failure, the first change that a rule proposes for it, and the command that repairs it.

        As JSON in ASCII. Without a proposal no rule is asked.
        """
        failure = resolve_temporaries(failure, self._sources)
        diagnosis, patch = self._first(failure) if with_proposal else (None, None)
        record = failure_record(failure, [diagnosis] if diagnosis else (), lines(self._root))
        explained = {
            "failure": msgspec.to_builtins(record),
            "proposal": msgspec.to_builtins(_proposal(patch)) if patch else None,
            "devices": sorted({operand.device for operand in failure.operands}),
            "command": command,
        }
        return json.dumps(explained)

    def _first(self, failure: Failure) -> tuple[Diagnosis | None, Patch | None]:
        key = (str(failure.at), failure.op, *(f"{each.device} {each.creation}" for each in failure.operands))
        if key not in self._known:
            rules = self._catalog.rules
            diagnoses = diagnose(failure, rules, self._sources)
            patch = next(propose(diagnoses, {rule.id: rule for rule in rules}, self._sources), None)
            asked = [each for each in diagnoses if patch is None or each.rule == patch.rule]
            self._known[key] = (asked[0] if asked else None, patch)
        return self._known[key]

    @cached_property
    def _sources(self) -> Sources:
        def read(path: str) -> bytes | None:
            try:
                return (self._root / path).read_bytes()
            except OSError:
                return None

        return Sources(read)

    @cached_property
    def _catalog(self) -> Catalog:
        try:
            return rules_for(read_config(self._root))
        except UserError:  # a configuration that `devfix repair` refuses, with the reason: no test fails by it
            return collect()


def _proposal(patch: Patch) -> ProposedChangeRecord:
    edits = [each for edit in patch.edits for each in split_cells(edit)]
    return ProposedChangeRecord(
        rule=patch.rule,
        title=patch.title,
        reason=patch.reason,
        safety=patch.safety,
        edits=tuple(EditRecord(path=each.path, line=each.line, diff=format_diff(each)) for each in edits),
    )
