"""The packages that devfix needs in an environment even if the repository does not declare them, as many omit torch."""

from __future__ import annotations

NEEDED = ("torch>=2.6",)
NEEDED_BY_NOTEBOOKS = (*NEEDED, "ipykernel")
NEEDED_BY_TESTS = (*NEEDED, "pytest")
