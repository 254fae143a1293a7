"""Whatever happens to devfix, the user's repository stays as it was: killed, out of space, changed below, run twice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from fault_injection import Scene, disturb, make_project, user_state
from git_repositories import git, write
from waiting import until

POINTS = int(os.environ.get("DEVFIX_HARM_POINTS", "12"))  # `make harm` asks for 200


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    (tmp_path / "scratch").mkdir()
    return Scene(make_project(tmp_path), tmp_path / "scratch")


@pytest.mark.exhaustive
def test_killed_at_any_step_it_leaves_the_user_as_it_was(scene: Scene) -> None:
    wrong = []
    for each in disturb(scene, POINTS):
        print("WRONG", each, flush=True)
        wrong.append(each)
    assert not wrong, "\n".join(wrong)


RUN = ["run", "--world", "simulated", "--", sys.executable, "main.py"]


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_nothing(scene: Scene) -> None:
    """`devfix run` starts the program where it stands, and makes no worktree: fewer points say as much."""
    before = user_state(scene.root)
    code, said = scene.run(0, "SIGKILL", command=RUN)
    assert code == 1 and "same device" in said
    steps = int((scene.scratch.parent / "counted").read_text())
    points = max(6, POINTS // 8)
    for point in range(points):
        step, number = 1 + (2 * point + 1) * steps // (2 * points), ("SIGKILL", "SIGINT", "SIGTERM")[point % 3]
        code, said = scene.run(step, number, command=RUN)
        at = f"{number} at step {step} of {steps}: exit code {code}: {said[-500:]}"
        assert code in (1, -9, 130, 143) and "internal error" not in said, at
        assert user_state(scene.root) == before, at
        assert number == "SIGKILL" or not list(scene.scratch.iterdir()), at
        assert scene.cleared() == [], at


@pytest.mark.slow
def test_two_at_once_on_one_repository(scene: Scene) -> None:
    before = user_state(scene.root)
    both = [scene.start(str(uuid.uuid4())) for _ in range(2)]
    said = [one.communicate() for one in both]
    assert [one.returncode for one in both] == [0, 0], said
    assert user_state(scene.root) == before
    branches = git(scene.root, "for-each-ref", "--format=%(refname)", "refs/heads/devfix/").split()
    assert len(branches) == 2 and branches[1] == f"{branches[0]}-2"
    assert git(scene.root, "diff", *branches) == ""
    assert not list(scene.scratch.iterdir())


@pytest.mark.slow
def test_the_repository_changes_under_it(scene: Scene) -> None:
    """While a repair runs its user commits, edits, stages, switches the branch and deletes one."""
    start = git(scene.root, "rev-parse", "HEAD")
    (scene.root / ".git" / "hooks" / "pre-commit").unlink()
    (scene.root / ".git" / "hooks" / "reference-transaction").unlink()
    began = scene.start(str(uuid.uuid4()))
    until(lambda: list(scene.scratch.rglob("main.py")))  # the worktree in which the program runs
    write(scene.root, {"main.py": "print('new')\n", "more.py": "y = 2\n"})
    git(scene.root, "add", "main.py", "more.py")
    git(scene.root, "commit", "--quiet", "--message=more")
    git(scene.root, "checkout", "--quiet", "-b", "elsewhere")
    git(scene.root, "branch", "--delete", "other")
    write(scene.root, {"more.py": "y = 3\n"})
    git(scene.root, "gc", "--quiet", "--prune=now")
    before = user_state(scene.root)
    out, err = began.communicate()
    assert began.returncode == 0, out + err
    assert user_state(scene.root) == before
    branch = git(scene.root, "for-each-ref", "--format=%(refname)", "refs/heads/devfix/")
    assert git(scene.root, "rev-parse", f"{branch}^") == start, "the fix stands on the commit that was judged"


@pytest.mark.slow
def test_the_repository_vanishes_under_it(scene: Scene) -> None:
    began = scene.start(str(uuid.uuid4()))
    until(lambda: list(scene.scratch.rglob("main.py")))  # the worktree in which the program runs
    scene.root.rename(scene.root.with_name("moved"))
    out, err = began.communicate()
    assert began.returncode in (1, 2, 3) and "Traceback" not in out + err
    assert not [path for path in scene.scratch.iterdir() if "fault" not in path.name]


def mounted(folder: Path, size: str, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command for which `folder` is an empty disk of that size."""
    script = f'mount -t tmpfs -o size={size} none "$0" && shift 0 && exec "$@"'
    words = ["unshare", "--mount", *(() if os.getuid() == 0 else ("--user", "--map-root-user"))]
    return subprocess.run([*words, "sh", "-c", script, str(folder), *command], capture_output=True, text=True)


can_mount = pytest.mark.skipif(
    shutil.which("unshare") is None or mounted(Path("/mnt"), "1m", "true").returncode != 0,
    reason="no disk of a small size can be made here",
)


@pytest.mark.slow
@can_mount
@pytest.mark.parametrize("size", ["4k", "100k", "300k", "600k"])
def test_no_space_for_temporary_files(size: str, scene: Scene) -> None:
    before = user_state(scene.root)
    command = [sys.executable, "-m", "devfix", "repair", str(scene.root), "--world", "simulated", "--run"]
    done = mounted(scene.scratch, size, "env", f"TMPDIR={scene.scratch}", *command, "python main.py")
    assert done.returncode in (0, 1, 2) and "Traceback" not in done.stdout + done.stderr, done.stderr
    assert done.returncode == 0 or "No space left" in done.stdout + done.stderr
    assert user_state(scene.root) == before


@pytest.mark.slow
@can_mount
def test_no_space_for_the_branch(tmp_path: Path) -> None:
    """The repository's own disk is full when the fix is to be written into it; git clears its `tmp_obj_` by itself."""
    disk = tmp_path / "disk"
    disk.mkdir()
    project = make_project(tmp_path)
    fill = (
        'cp -a "$1" "$2/project"; cd "$2/project"; git fsck 2>/dev/null >&2; dd if=/dev/zero of="$2/rest" 2>/dev/null;'
        ' find . -type f -not -name tmp_obj_* | sort | xargs sha1sum > "$3/before"; shift 3; "$@"; echo "code $?";'
        ' find . -type f -not -name tmp_obj_* | sort | xargs sha1sum | diff "$OLDPWD/before" - && echo same'
    )
    command = [sys.executable, "-m", "devfix", "repair", ".", "--world", "simulated", "--run", "python main.py"]
    os.chdir(tmp_path)
    done = mounted(disk, "2m", "bash", "-c", fill, "-", str(project), str(disk), str(tmp_path), *command)
    assert "same\n" in done.stdout and "code 2" in done.stdout, done.stdout[-3000:] + done.stderr
    assert "git cannot" in done.stderr and "Traceback" not in done.stderr
