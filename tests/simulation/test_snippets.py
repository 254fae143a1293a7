"""Small programs, a third and more of them correct: on simulated GPUs each does what it does on CUDA."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from devfix.probe.conformance import snippets

FOLDER = Path(__file__).parent
SNIPPETS = list(snippets.read(FOLDER))


@cache
def outcomes() -> dict[str, str]:
    """What became of each snippet; they share one process, which must live to the end."""
    command = [sys.executable, str(FOLDER / "run_snippets.py")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(line) for line in done.stdout.splitlines() if line.startswith('["'))


@pytest.mark.slow
@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda snippet: snippet.title)
def test_does_what_cuda_does(snippet: snippets.Snippet) -> None:
    outcome = outcomes()[snippet.title]
    assert snippets.agrees(outcome, snippet.expected), f"expected {snippet.expected}\ngot      {outcome}"


def test_what_older_releases_make_of_a_snippet(tmp_path: Path) -> None:
    older = "# before 1.0: TypeError\n# before 99.0: ValueError: no\n"
    text = f"A file.\n=== one -> ok\n{older}pass\n=== two -> ok\n# before 1.0: no\n"
    (tmp_path / "some.snippets").write_text(text)
    assert [each.expected for each in snippets.read(tmp_path)] == ["ValueError: no", "ok"]


def test_a_third_of_the_snippets_is_correct() -> None:
    correct = [snippet for snippet in SNIPPETS if snippet.expected == "ok"]
    assert len(SNIPPETS) >= 150 and len(correct) * 3 >= len(SNIPPETS)
    assert len({snippet.title for snippet in SNIPPETS}) == len(SNIPPETS)
