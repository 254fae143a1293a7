"""What is said of an error of uv, in the words and frames of several of its versions."""

from __future__ import annotations

import pytest

from devfix.environments.declared.requirement import DeclaredRequirement
from devfix.environments.explanation import explain_conflict, find_left_out, is_unreachable
from devfix.environments.uv import error_text
from devfix.process import Completed

DECLARED = [DeclaredRequirement("leaf>=2", "requirements.txt", 3), DeclaredRequirement("stem<1", "pyproject.toml", 7)]


def text(stderr: str) -> str:
    return error_text(Completed(1, "", False, 1.0, "", stderr, False))


@pytest.mark.parametrize(
    "stderr",
    [
        "error: No solution found when resolving dependencies\n"
        "  cause: Because stem<1 depends on leaf<2 and you require leaf>=2, we can conclude that your requirements are "
        "unsatisfiable.\n",
        "  × No solution found when resolving dependencies:\n  ╰─▶ Because stem<1 depends on leaf<2 and you require\n"
        "      leaf>=2, we can conclude that your requirements are\n      unsatisfiable.\n",
    ],
)
def test_a_conflict(stderr: str) -> None:
    assert explain_conflict(text(stderr), DECLARED) == (
        "stem<1 depends on leaf<2 and you require leaf>=2; "
        "requirements.txt:3 asks for leaf>=2, pyproject.toml:7 asks for stem<1"
    )


@pytest.mark.parametrize(
    ("stderr", "line"),
    [
        (
            "  × Failed to build `leaf==2.0`\n  ├─▶ The build backend returned an error\n  ╰─▶ Call failed (exit\n"
            "      status: 1)\n\n      [stderr]\n      no compiler here\n\n      hint: This usually\n",
            "leaf is left out: it cannot be built (no compiler here); requirements.txt:3 asks for leaf>=2",
        ),
        (
            "  × Failed to download and build `leaf==2.0`\n  ╰─▶ x\n      [stderr]\n      Traceback\n"
            "      RuntimeError: no CUDA\n",
            "leaf is left out: it cannot be built (RuntimeError: no CUDA); requirements.txt:3 asks for leaf>=2",
        ),
        (
            "error: x\n  cause: Because inner was not found in the package registry and leaf depends on inner, we can",
            "inner is left out: no index has it; another package asks for it",
        ),
    ],
)
def test_a_package_that_is_left_out(stderr: str, line: str) -> None:
    assert str(find_left_out(text(stderr), DECLARED)) == line


def test_an_index_that_does_not_answer_is_no_reason_to_leave_a_package_out() -> None:
    assert is_unreachable(text("error: Request failed after 3 retries\n  cause: Failed to fetch: `https://x/leaf/`\n"))
