"""What devfix needs in an environment besides what a repository declares: many a README says "install torch first"."""

from __future__ import annotations

NEEDED = ("torch>=2.6",)
NEEDED_BY_NOTEBOOKS = (*NEEDED, "ipykernel")
NEEDED_BY_TESTS = (*NEEDED, "pytest")
