"""Programs that a forked program starts: forked too where nobody can tell, and new interpreters elsewhere."""

from __future__ import annotations

import os
import textwrap
from pathlib import Path

import pytest
from waiting import HANGS, until

from devfix.execution.prefork import PreforkServer
from devfix.process import Completed, child_environment

IS_FORKED = "import sys\nprint('forked' if 'torch' in sys.modules else 'new', *sys.argv[1:])\n"


def run_parent(warm: PreforkServer, folder: Path, source: str, children: bool = True, **more: str) -> Completed:
    (folder / "parent.py").write_text(
        "import os, subprocess, sys\nfrom pathlib import Path\n" + textwrap.dedent(source), encoding="utf-8"
    )
    surroundings = {**child_environment(), **more}
    return warm.run(["parent.py"], folder, surroundings, HANGS, children=warm if children else None)


def both(warm: PreforkServer, folder: Path, source: str, child: str) -> Completed:
    """Run a parent whose children are forked, and one whose children are new; both do the same."""
    (folder / "child.py").write_text(textwrap.dedent(child), encoding="utf-8")
    forked, new = (run_parent(warm, folder, source, children) for children in (True, False))
    assert (forked.stdout, forked.stderr, forked.exit_code) == (new.stdout, new.stderr, new.exit_code)
    return forked


@pytest.mark.parametrize(
    "start",
    [
        "subprocess.run([sys.executable, 'child.py', 'a'], check=True)",
        "print(subprocess.check_output([sys.executable, Path('child.py'), 'a'], text=True), end='')",
        "subprocess.run((sys.executable, '-m', 'child', 'a'), env={**os.environ, 'MINE': '1'})",
        "subprocess.call([sys.executable, '../child.py', 'a'], cwd='below')",
    ],
)
def test_a_script_or_a_module_is_forked(warm: PreforkServer, tmp_path: Path, start: str) -> None:
    (tmp_path / "child.py").write_text(IS_FORKED)
    (tmp_path / "below").mkdir()
    said = run_parent(warm, tmp_path, start + "\n")
    assert (said.stdout, said.stderr, said.exit_code) == ("forked a\n", "", 0)


@pytest.mark.parametrize(
    "start",
    [
        "subprocess.run([sys.executable, '-u', 'child.py'])",
        "subprocess.run([sys.executable, 'child.py'], input='x', text=True)",
        "subprocess.run([sys.executable, 'child.py'], env={**os.environ, 'PYTHONHASHSEED': '7'})",
        "subprocess.run([sys.executable, 'child.py'], env={**os.environ, 'OMP_NUM_THREADS': '3'})",
        "subprocess.run([sys.executable, 'child.py'], env={**os.environ, 'PYTHONPATH': 'start'})",
        "subprocess.run([sys.executable, 'child.py'], start_new_session=True)",
        "subprocess.run([sys.executable, 'child.py'], close_fds=False)",
        "subprocess.run(f'{sys.executable} child.py', shell=True)",
        "subprocess.run(['python', 'child.py'], executable=sys.executable)",
    ],
)
def test_what_an_interpreter_would_see_gets_a_new_one(warm: PreforkServer, tmp_path: Path, start: str) -> None:
    (tmp_path / "child.py").write_text(IS_FORKED)
    (tmp_path / "start").mkdir()
    (tmp_path / "start" / "sitecustomize.py").write_text("")
    said = run_parent(warm, tmp_path, start + "\n")
    assert (said.stdout, said.stderr, said.exit_code) == ("new\n", "", 0)


def test_children_are_new_interpreters_without_a_server(warm: PreforkServer, tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(IS_FORKED)
    said = run_parent(warm, tmp_path, "subprocess.run([sys.executable, 'child.py'])\n", children=False)
    assert said.stdout == "new\n"


@pytest.mark.parametrize(
    "child",
    [
        "import sys\nprint('out')\nprint('err', file=sys.stderr)\nsys.exit(3)",
        "1 / 0",
        "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
        "raise KeyboardInterrupt",
        "import os\nprint(sorted(set(os.environ) - {'_', 'LC_CTYPE'}), os.getcwd(), os.environ.get('MINE'))",
        "import sys\nprint(sys.argv, sys.path[0], __name__, __file__, sys.stdin.read())",
        "import torch\ntorch.manual_seed(1)\nprint(torch.rand(2))",
    ],
)
def test_a_forked_child_ends_and_prints_as_a_new_one(warm: PreforkServer, tmp_path: Path, child: str) -> None:
    source = """
    done = subprocess.run(
        [sys.executable, "child.py", "one", "--two"], capture_output=True, text=True, env={**os.environ, "MINE": "1"}
    )
    print(done.args[1:], done.returncode, done.stdout, done.stderr)
    """
    assert "child.py" in both(warm, tmp_path, source, child).stdout


def test_a_child_that_is_killed_ends(warm: PreforkServer, tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(
        "import os, time\nopen('pid.new', 'w').write(str(os.getpid()))\nos.rename('pid.new', 'pid')\ntime.sleep(600)\n"
    )
    source = """
    import time
    child = subprocess.Popen([sys.executable, "child.py"])
    while not os.path.exists("pid"):
        time.sleep(0.01)
    print(open("pid").read(), child.pid)
    child.kill()
    print(child.wait())
    """
    numbers = run_parent(warm, tmp_path, source).stdout.split()
    assert numbers[0] != numbers[1] and numbers[2] == "-9"
    until(lambda: not os.path.exists(f"/proc/{numbers[0]}"))
