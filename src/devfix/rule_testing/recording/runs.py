"""Recorded runs: what a program did, by the digest of all that it depends on."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from devfix.decoding import decode_msgpack
from devfix.model import CountRequest, Outcome, Run, SourceLocation, World
from devfix.rule_testing.pages.case import Case
from devfix.rule_testing.recording.fingerprint import fingerprint
from devfix.rule_testing.recording.store import Store

# A run that was ended, or was not seen in full, says something about the machine, and the next may end otherwise.
_LASTING = (Outcome.CLEAN, Outcome.FAILED, Outcome.OTHER)


class RecordedRuns:
    """The runs of an interpreter and a devfix, in a store; `count` has how many were "replayed" and "made"."""

    def __init__(self, store: Store, python: Path) -> None:
        """Compute what runs depend on. Raises UserError if the interpreter has no torch."""
        self.store = store
        self.count: Counter[str] = Counter()
        self._fingerprint = fingerprint(python)
        self._encoder = msgspec.msgpack.Encoder()

    def key(
        self,
        case: Case,
        world: World,
        files: Mapping[str, bytes],
        watch: Sequence[SourceLocation],
        reach: CountRequest,
    ) -> str:
        """Return the digest of a run: of the files, of which some are owned, of the world and of what is recorded."""
        every = sorted({**case.before, **case.foreign, **files}.items())
        asked = (self._fingerprint, case.program, sorted(case.before), every, world, list(watch), reach)
        return hashlib.blake2b(self._encoder.encode(asked), digest_size=20).hexdigest()

    def get(self, key: str) -> Run | None:
        """Return a recorded run; None if there is none that can be read."""
        data = self.store.get(key)
        try:
            run = decode_msgpack(data, Run) if data is not None else None
        except (msgspec.DecodeError, ValueError):
            run = None
        self.count["replayed"] += run is not None
        return run

    def put(self, key: str, run: Run) -> None:
        """Record a run, unless the next one may differ: a program without seeds, or one that the machine ended."""
        self.count["made"] += 1
        if run.unseeded or run.internal_errors or run.outcome not in _LASTING:
            return
        try:
            data = self._encoder.encode(run)
        except (UnicodeEncodeError, OverflowError):
            return  # the program printed half of a surrogate pair
        self.store.put(key, data)
