"""The checks of the mutation run still start: nothing else imports them, and the run itself takes half an hour."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest

from devfix.sdk import Context

sys.path.insert(0, str(Path(__file__).parent))
import replay

sys.path.remove(str(Path(__file__).parent))
pytestmark = pytest.mark.slow


def test_a_recorded_failure_is_replayed_and_a_change_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ((name, failed),) = replay._of_the_reference()
    made = {word: ask() for word, ask in replay.asked(failed, failed.sources).items()}
    assert len(made) > 50 and any(patches for _, patches, _ in (v for k, v in made.items() if "/" in k))
    (tmp_path / "recorded").write_bytes(
        pickle.dumps({name: {**vars(failed), "made": made}, "again": {**vars(failed), "made": made}})
    )
    for each in ("diagnose", "propose"):  # which `checks` replaces for good
        module = sys.modules[f"devfix.diagnosis.{each}"]
        monkeypatch.setattr(module, "within", module.within)
    checks = replay.checks(tmp_path / "recorded")
    assert [each for each, check in checks.items() if not check()] == []
    monkeypatch.setattr(Context, "sites", lambda self: [])
    assert not all(check() for each, check in checks.items() if each.startswith("again:"))
