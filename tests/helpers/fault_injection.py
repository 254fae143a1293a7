"""A repository with all that a user has in one, repairs of it that are disturbed, and what must be the same after."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from git_repositories import fingerprint, git, make_repository, write
from living_processes import living
from waiting import until

PROGRAM = """import torch
x = torch.ones(2, device="cuda" if torch.cuda.is_available() else "cpu")
y = torch.arange(2)
print((x + y).sum().item())
"""
COMMAND = ["repair", "--world", "simulated", "--run", "python main.py"]
KILLED = Path(__file__).with_name("kill_at_step.py")


def make_project(folder: Path) -> Path:
    """A repository with staged and unstaged work, a stash, a hook, branches, a tag, settings and ignored data."""
    root = make_repository(folder / "project", {"main.py": PROGRAM, "notes.md": "one\n", ".gitignore": "data/\n"})
    git(root, "branch", "other")
    git(root, "tag", "first")
    write(root, {"notes.md": "two\n"})
    git(root, "stash")
    write(root, {"staged.py": "x = 1\n", "notes.md": "three\n", "data/set.bin": b"123", "new.txt": "untracked\n"})
    git(root, "add", "staged.py")
    git(root, "config", "user.name", "Ada")
    git(root, "config", "user.email", "ada@example.org")
    write(
        root,
        {".git/hooks/pre-commit": "#!/bin/sh\nexit 1\n", ".git/hooks/reference-transaction": "#!/bin/sh\nexit 1\n"},
    )
    for hook in ("pre-commit", "reference-transaction"):
        (root / ".git" / "hooks" / hook).chmod(0o755)
    return root


def user_state(root: Path) -> Mapping[str, tuple[int, str]]:
    """What a user has: everything but the objects, which may grow, and the branches of devfix."""
    mine = fingerprint(root)
    return {name: state for name, state in mine.items() if not _is_of_devfix(name)}


def _is_of_devfix(name: str) -> bool:
    below = (".git/objects/", ".git/refs/heads/devfix", ".git/logs/refs/heads/devfix")
    return name.startswith(below) or name == ".git/logs/refs/heads"


@dataclass
class Scene:
    """A project, and a folder for temporary files in which a disturbed devfix leaves what it leaves."""

    root: Path
    scratch: Path

    def environment(self, mark: str) -> dict[str, str]:
        return {**os.environ, "TMPDIR": str(self.scratch), "MARK": mark}

    def start(
        self, mark: str, step: int = 0, number: str = "SIGKILL", *more: str, command: Sequence[str] = ()
    ) -> subprocess.Popen[str]:
        """Start a repair (or another command) that gets the signal at its step."""
        killed = [sys.executable, str(KILLED), str(step), number, str(self.scratch.parent / "counted")]
        return subprocess.Popen(
            [*killed, *(command or [*COMMAND, *more, str(self.root)])],
            cwd=self.root,
            env=self.environment(mark),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, step: int = 0, number: str = "SIGKILL", *more: str, command: Sequence[str] = ()) -> tuple[int, str]:
        """Repair (or another command), with the signal at a step; return the exit code and all output in the end."""
        mark = str(uuid.uuid4())
        started = self.start(mark, step, number, *more, command=command)
        out, err = started.communicate()
        until(lambda: not living(mark))
        return started.returncode, out + err

    def steps(self) -> int:
        """How many steps an undisturbed repair takes."""
        code, said = self.run(0, "SIGKILL", "--dry-run")
        assert code == 0, said
        return int((self.scratch.parent / "counted").read_text())

    def cleared(self) -> list[str]:
        """What is left among the temporary files once the next devfix has begun."""
        clear = "from devfix.process.tempdirs import clear_stale; clear_stale()"
        subprocess.run([sys.executable, "-c", clear], env=self.environment(""), check=True)
        return sorted(path.name for path in self.scratch.iterdir())


def disturb(scene: Scene, points: int) -> Iterator[str]:
    """Kill repairs at so many points, spread over a run, by three signals in turn; yield what is wrong after each."""
    before = user_state(scene.root)
    steps = scene.steps()
    branches = 0
    # In mixed order, so that a suite that is stopped has still looked everywhere.
    for done, point in enumerate(random.Random(8).sample(range(points), points)):
        step = 1 + (2 * point + 1) * steps // (2 * points)
        number = ("SIGKILL", "SIGINT", "SIGTERM")[point % 3]
        code, said = scene.run(step, number)
        at = f"{number} at step {step} of {steps}"
        print(f"{done + 1} of {points}: {at}: exit code {code}", flush=True)
        if user_state(scene.root) != before:
            yield f"{at}: the user's files differ"
        if "Traceback" in said:
            yield f"{at}: {said[-2000:]}"
        # The last step or two may be passed over where a run takes another turn, so a repair may also come to its end.
        ended = code == 0
        left = sorted(path.name for path in scene.scratch.iterdir())
        if left and number != "SIGKILL":
            yield f"{at}: left {left}"
        if left := scene.cleared():
            yield f"{at}: the next run does not clear {left}"
        made = git(scene.root, "for-each-ref", "--format=%(refname)", "refs/heads/devfix/").split()
        if len(made) > branches + 1 or (ended and len(made) == branches):
            yield f"{at}: exit code {code} and branches {made}"
        for branch in made[branches:]:
            if git(scene.root, "diff", "--stat", "main", branch).count("|") != 1:
                yield f"{at}: {branch} is not whole"
        branches = len(made)
        if code not in (0, -9, 130, 143):
            yield f"{at}: exit code {code}: {said[-500:]}"
    if points and git(scene.root, "fsck", "--no-dangling"):
        yield "git fsck finds something"
