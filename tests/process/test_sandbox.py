"""What a program may do in the sandbox, tried by real programs under bubblewrap."""

from __future__ import annotations

import os
import shutil
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from cli_programs import MOVED, repair
from git_repositories import fingerprint, git
from verdict_programs import project
from waiting import HANGS

from devfix.process import Completed, Sandbox, child_environment, interpreter_folders, run, why_no_sandbox

bubblewrap = pytest.mark.skipif(bool(why_no_sandbox()), reason=why_no_sandbox())


def inside(script: str, folder: Path) -> Completed:
    tree = folder / "tree"
    tree.mkdir(exist_ok=True)
    sandbox = Sandbox([tree], [Path(sys.prefix), Path(sys.base_prefix)])
    command = sandbox.around([sys.executable, "-c", script], tree)
    return run(command, tree, child_environment(), 30)


TRY = "try:\n    {}\n    print('done')\nexcept OSError as error:\n    print(type(error).__name__)\n"


@bubblewrap
def test_only_the_tree_is_writable(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    outside = [str(tmp_path / "mine.txt"), "/etc/devfix", f"{Path.home()}/devfix", "/usr/devfix"]
    assert inside(TRY.format("open('inside', 'w').write('x')"), tmp_path).stdout == "done\n"
    for path in outside:
        said = inside(TRY.format(f"open({path!r}, 'w').write('theirs')"), tmp_path).stdout
        # /tmp is an empty one of its own, in which it may write what nobody sees.
        assert said in ("OSError\n", "FileNotFoundError\n") or path.startswith("/tmp/"), path
    assert (tmp_path / "tree" / "inside").read_text() == "x" and (tmp_path / "mine.txt").read_text() == "mine"
    remount = "import ctypes; print(ctypes.CDLL(None).mount(None, b'/usr', None, 32 | 4096, None))"
    assert inside(remount, tmp_path).stdout == "-1\n"


@bubblewrap
def test_no_network_and_no_socket_of_others(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(str(tmp_path / "socket"))
        local.listen()
        port = server.getsockname()[1]
        connect = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
        assert "Error" in inside(TRY.format(connect), tmp_path).stdout
        reach = f"import socket; socket.socket(socket.AF_UNIX).connect({str(tmp_path / 'socket')!r})"
        if tmp_path.is_relative_to("/tmp"):
            assert inside(TRY.format(reach), tmp_path).stdout == "FileNotFoundError\n"
    others = "import os; print(sum(name.isdigit() for name in os.listdir('/proc')))"
    assert int(inside(others, tmp_path).stdout) <= 3


@bubblewrap
def test_a_sandbox_of_the_system_alone(tmp_path: Path) -> None:
    """Nothing else has a path in it: not the names of other folders, and what is written beside them is refused."""
    tree, temporary = tmp_path / "tree", tmp_path / "temporary"
    for folder in (tree, temporary, tmp_path / "other"):
        folder.mkdir()
    python = Path(sys.executable)
    sandbox = Sandbox([tree], [*interpreter_folders(python), Path(sys.prefix), Path(sys.base_prefix)], only_system=True)
    sandbox = replace(sandbox, temporary=temporary, shared_memory=1_000_000)
    script = f"""
import os
def tried(act):
    try:
        return act()
    except OSError as error:
        return type(error).__name__
print(tried(lambda: os.listdir({str(tmp_path / "other")!r})))
print(tried(lambda: open("/mark", "w").write("x")))
print(tried(lambda: open("/dev/shm/large", "wb").write(bytes(5_000_000))))
print(tried(lambda: os.listdir({str(Path.home())!r})))
open("/tmp/mark", "w").write("x")
open("inside", "w").write("x")
"""
    done = run(sandbox.around([sys.executable, "-c", script], tree), tree, child_environment(), HANGS)
    others, beside, shared, home = done.stdout.splitlines()
    assert (others, beside, shared) == ("FileNotFoundError", "OSError", "OSError"), done
    assert len(os.listdir(Path.home())) > home.count(","), "the home folder is there"
    assert (temporary / "mark").exists() and (tree / "inside").exists()


@bubblewrap
def test_it_can_kill_nobody_but_itself(tmp_path: Path) -> None:
    done = inside(
        "import os\nfor pid in range(2, 100_000):\n    try: os.kill(pid, 9)\n    except OSError: pass", tmp_path
    )
    assert done.signal == "SIGKILL" or done.exit_code in (0, 137), done
    assert os.getppid() > 0, "we are still here"


@bubblewrap
def test_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path(f"/var/devfix-test-{os.getpid()}") if os.getuid() == 0 else tmp_path
    try:
        (home / ".ssh").mkdir(parents=True)
        (home / ".ssh" / "id").write_text("secret")
        (home / ".netrc").write_text("secret")
        monkeypatch.setenv("HOME", str(home))
        script = f"import os; print(os.listdir({str(home / '.ssh')!r}), open({str(home / '.netrc')!r}).read())"
        assert "secret" not in inside(script, tmp_path).stdout
    finally:
        if home != tmp_path:
            shutil.rmtree(home)


@pytest.mark.slow
@bubblewrap
def test_a_repair_in_the_sandbox(tmp_path: Path) -> None:
    writes = 'for path in ("{root}/.git/hooks/post-checkout", "{root}/main.py", "/tmp/devfix-was-here"):\n'
    writes += '    try: open(path, "w").write("theirs")\n    except OSError: pass\n'
    program = MOVED + "y = torch.arange(2)\nprint((x + y).sum().item())\n"
    root = project(tmp_path, writes.format(root=tmp_path / "project") + program)
    before = fingerprint(root)
    done = repair(root, "--sandbox", "--dry-run")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Repaired: 1 device failure" in done.stdout
    assert fingerprint(root) == before and not Path("/tmp/devfix-was-here").exists()
    assert git(root, "branch", "--list", "devfix/*") == ""


@pytest.mark.slow
def test_where_it_is_not_there_nothing_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "git").symlink_to(shutil.which("git") or "git")
    root = project(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    monkeypatch.setenv("PATH", str(tools))
    done = repair(root, "--sandbox")
    assert done.returncode == 2 and "bubblewrap is not there: install it" in done.stderr
    (root / "devfix.toml").write_text("sandbox = true\n")
    done = repair(root)
    assert done.returncode == 2 and "devfix.toml: sandbox: bubblewrap is not there" in done.stderr
    assert not (tmp_path / "ran").exists()
