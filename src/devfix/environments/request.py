"""A request for an environment, and the packages that devfix needs in it."""

from __future__ import annotations

from dataclasses import dataclass

NEEDED = ("torch>=2.6",)
NEEDED_BY_NOTEBOOKS = (*NEEDED, "ipykernel")
NEEDED_BY_TESTS = (*NEEDED, "pytest")


CPU = "cpu"
ORDINARY = "none"  # the build of torch that the ordinary package index has


@dataclass(frozen=True)
class EnvironmentRequest:
    """Options of an environment.

    `packages` are installed in addition to what the repository declares, unless that includes them. `torch` is the
    build of torch: "cpu", "auto" (for the GPU of this machine), one that uv knows ("cu128"), or "none" for the one of
    the ordinary package index. Empty stands for UV_TORCH_BACKEND, or else for "cpu".

    Without `builds` only wheels are installed, so that no code runs, of the repository or of a package; the interpreter
    of the environment does run code of packages when it starts. With `refresh` the indexes are asked, also where the
    same was resolved within a day.
    """

    packages: tuple[str, ...] = ()
    torch: str = ""
    builds: bool = True
    refresh: bool = False
