"""The warm process: its children are, to the last byte, what fresh interpreters are; none of them outlives its time."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
import textwrap
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from probe_programs import PYTHON, environment
from waiting import HANGS, with_enough_time

from devfix.execution.prefork import PreforkError, PreforkServer
from devfix.process import Completed, child_environment, run


def both(warm: PreforkServer, folder: Path, source: str, *arguments: str, **more: str) -> tuple[Completed, Completed]:
    (folder / "script.py").write_text(textwrap.dedent(source).lstrip("\n"))
    surroundings = {**child_environment(), **more}
    fresh = run([str(PYTHON), "script.py", *arguments], folder, surroundings, HANGS)
    return warm.run(["script.py", *arguments], folder, surroundings, HANGS), fresh


@pytest.mark.slow
@pytest.mark.parametrize(
    "source",
    [
        "print(__name__, __file__, __spec__, __package__, __cached__, __doc__, __builtins__, type(__loader__))",
        "import sys\nprint(sys.argv, sys.path[0], sys.orig_argv, sys.flags, sys.stdin.read())",
        "import sys\nprint([p for p in sys.path], sys.stdout.isatty(), sys.stdout.encoding, sys.stdout.line_buffering)",
        "import os\nprint(os.getcwd(), sorted(os.environ.items()))",
        "'a doc'\nfrom __future__ import annotations\nx: int = 1\nprint(__doc__, __annotations__)",
        "def f():\n    return g()\ndef g():\n    raise ValueError('x')\n"
        "try:\n    f()\nexcept ValueError as e:\n    raise KeyError(1) from e",
        "raise SystemExit",
        "raise SystemExit(7)",
        "raise SystemExit('in words')",
        "import sys\nsys.exit(-1)",
        "import sys\nsys.exit([1, 2])",
        "raise KeyboardInterrupt",
        "def broken(:\n    pass",
        "x = '\\ud800'\nprint(x)",
        "1 / 0  # \u00e9\u00e9 wide",
        "import os\nos._exit(9)",
        "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
        "import os\nos.abort()",
        "import atexit\natexit.register(print, 'last')\nprint('first')",
        "class A:\n    def __del__(self): print('gone')\na = A()",
        "import threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(0.2), print('late'))).start()\nprint('early')",
        "import sys\nclass A:\n    def __del__(self): print('gone', sys is None, self.n)\n"
        "def f(): return a\na = A(); a.n = 1; a.me = a; f.a = a",
        "import atexit\natexit.register(lambda: 1 / 0)\nprint('first')",
        "import ctypes\nctypes.CDLL(None).printf(b'from C\\n')",
        "import sys\nsys.stdout.close()",
        "import os\nos.close(1)\nprint('lost')",
        "import tempfile, os\nd = tempfile.TemporaryDirectory()\nopen('n', 'w').write(d.name)",
        "import threading\nprint(threading.current_thread().name, threading.active_count())",
        "import sys\nsys.stdout.write('no newline')\nsys.stderr.write('err')",
        "import sys\nsys.excepthook = lambda *a: print('mine', a[0])\n1 / 0",
        "import sys, atexit\natexit.register(lambda: print(sys.last_value))\n1 / 0",
        "import torch\nprint(torch.get_num_threads(), torch.get_num_interop_threads(), torch.is_grad_enabled())",
        "import torch\ntorch.manual_seed(0)\na = torch.rand(500, 500)\nprint((a @ a).sum(), torch.randn(3))",
        "import pickle\nclass A: pass\nprint(pickle.loads(pickle.dumps(A())).__class__)",
        "import __main__\nprint(__main__.__file__)",
        "import sys\nprint(sys.modules['__main__'].__dict__ is globals())",
        "import multiprocessing as m\ndef f(x): print('child', x, flush=True)\nif __name__ == '__main__':\n"
        "    for c in ('fork', 'spawn'):\n"
        "        p = m.get_context(c).Process(target=f, args=(c,)); p.start(); p.join()",
        "import inspect\ndef f():\n    return 1\nprint(inspect.getsource(f), inspect.stack()[-1].function)",
        "import warnings\nwarnings.warn('careful')",
        "import os\nprint(os.getsid(0) == os.getpid() or 'session', os.getppid() > 0)",
        "import signal\n"
        "print(signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGCHLD), signal.pthread_sigmask(0, []))",
        "import asyncio\nasync def f():\n    await asyncio.sleep(0.01)\n    raise OSError(3)\nasyncio.run(f())",
        "import os\nprint(sorted(os.listdir('/proc/self/fd'), key=int)[:4])",
        "import sys\ndef f(n): return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError:\n    print('deep')",
        "import faulthandler, gc\nprint(faulthandler.is_enabled(), gc.isenabled(), gc.get_threshold())",
    ],
)
def test_children_are_like_fresh_interpreters(warm: PreforkServer, tmp_path: Path, source: str) -> None:
    child, fresh = both(warm, tmp_path, source, "one", "--two")
    assert child.stdout == fresh.stdout
    assert re.sub("0x[0-9a-f]+", "0x", child.stderr) == re.sub("0x[0-9a-f]+", "0x", fresh.stderr)
    assert (child.exit_code, child.signal) == (fresh.exit_code, fresh.signal)


def test_environment_and_import_paths_are_the_requests(warm: PreforkServer, tmp_path: Path) -> None:
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "helper.py").write_text("where = __file__\n")
    child, fresh = both(
        warm,
        tmp_path,
        "import os, sys, helper\nprint(helper.where, os.environ['MINE'], sys.path, sys.dont_write_bytecode)",
        PYTHONPATH="library" + os.pathsep + str(tmp_path),
        MINE="1",
        PYTHONDONTWRITEBYTECODE="1",
    )
    assert child.stdout == fresh.stdout and child.exit_code == 0, child.stderr


def test_each_child_draws_its_own_random_numbers(warm: PreforkServer, tmp_path: Path) -> None:
    source = "import random, torch, numpy\nprint(random.random(), torch.rand(1).item(), numpy.random.rand())\n"
    (tmp_path / "script.py").write_text(source)
    drawn = [warm.run(["script.py"], tmp_path, child_environment(), HANGS).stdout.split() for _ in range(2)]
    assert len({*drawn[0], *drawn[1]}) == 6, drawn


def test_a_script_that_is_not_there(warm: PreforkServer, tmp_path: Path) -> None:
    child = warm.run(["nowhere.py"], tmp_path, child_environment(), HANGS)
    fresh = run([str(PYTHON), "nowhere.py"], tmp_path, child_environment(), HANGS)
    assert (child.exit_code, child.stderr) == (fresh.exit_code, fresh.stderr)


def test_a_simulated_world_is_the_childs_alone(warm: PreforkServer, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    repository.mkdir()
    (repository / "script.py").write_text("import torch\nprint(torch.cuda.is_available(), torch.cuda.device_count())\n")
    said = [
        warm.run(["script.py"], repository, environment(tmp_path, gpus=gpus, world=world), HANGS).stdout.strip()
        for world, gpus in (("simulated", 2), ("cpu", 0), ("simulated", 1))
    ]
    plain = warm.run(["script.py"], repository, child_environment(), HANGS).stdout.strip()
    assert [*said, plain] == ["True 2", "False 0", "True 1", "False 0"]


def test_several_at_once(warm: PreforkServer, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import sys, time\ntime.sleep(0.3)\nprint(sys.argv[1])\n")

    def one(number: int) -> str:
        return warm.run(["script.py", str(number)], tmp_path, child_environment(), HANGS).stdout.strip()

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(one, range(6))) == [str(number) for number in range(6)]


def _living(mark: str) -> list[str]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if mark.encode() in (folder / "environ").read_bytes() + (folder / "cmdline").read_bytes():
                    found.append(folder.name)
            except OSError:
                continue
    return found


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
def test_the_time_limit_ends_everything_that_was_started(warm: PreforkServer, tmp_path: Path) -> None:
    mark = f"mark-{uuid.uuid4()}"
    (tmp_path / "script.py").write_text(
        "import signal, subprocess\n"
        f"subprocess.Popen(['sh', '-c', 'sleep 6000', {mark!r}], start_new_session=True)\n"
        f"subprocess.Popen(['sh', '-c', 'trap \"\" TERM; sleep 6000', {mark!r}])\n"
        "print('begun', flush=True)\nwhile True: signal.pause()\n"
    )
    done = with_enough_time(
        lambda seconds: warm.run(["script.py"], tmp_path, child_environment(), seconds),
        lambda done: "begun" in done.stdout,
        2,
    )
    assert done.timed_out and done.exit_code is None and done.stdout == "begun\n"
    assert _living(mark) == []


@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
def test_a_daemon_does_not_outlive_its_program(warm: PreforkServer, tmp_path: Path) -> None:
    mark = f"mark-{uuid.uuid4()}"
    (tmp_path / "script.py").write_text(
        f"import subprocess\nsubprocess.Popen(['sh', '-c', 'sleep 6000', {mark!r}], start_new_session=True)\nprint(1)\n"
    )
    done = warm.run(["script.py"], tmp_path, child_environment(), HANGS)
    assert (done.exit_code, done.stdout) == (0, "1\n") and _living(mark) == []


def test_what_it_prints_is_heard_while_it_runs(warm: PreforkServer, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import os, time\nprint('one', flush=True)\nwhile not os.path.exists('gate'):\n    time.sleep(0.02)\n"
    )
    heard = bytearray()

    def hear(stream: int, data: bytes) -> None:
        heard.extend(data)
        (tmp_path / "gate").touch()

    done = warm.run(["script.py"], tmp_path, child_environment(), HANGS, hear=hear)
    assert (done.exit_code, bytes(heard)) == (0, b"one\n")


def test_output_is_bounded(warm: PreforkServer, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("print('x' * 1_000_000)\n")
    done = warm.run(["script.py"], tmp_path, child_environment(), HANGS, output_limit=1000)
    assert done.truncated and len(done.stdout) < 2000 and done.exit_code == 0


def test_what_an_interpreter_reads_at_its_start_cannot_change(warm: PreforkServer, tmp_path: Path) -> None:
    with pytest.raises(PreforkError, match="PYTHONHASHSEED"):
        warm.run(["script.py"], tmp_path, {**child_environment(), "PYTHONHASHSEED": "3"}, HANGS)


@pytest.mark.slow
def test_an_interpreter_that_cannot_serve(tmp_path: Path) -> None:
    warm = PreforkServer(PYTHON, child_environment(), ("torch", "no_such_module_anywhere"))
    with pytest.raises(PreforkError, match="no_such_module_anywhere"):
        warm.run(["script.py"], tmp_path, child_environment(), HANGS)
    warm.close()
    nowhere = PreforkServer(tmp_path / "nowhere", child_environment())
    with pytest.raises(PreforkError):
        nowhere.run(["script.py"], tmp_path, child_environment(), HANGS)
    nowhere.close()


@pytest.mark.slow
def test_a_server_that_dies_is_told(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import os, signal\nos.kill(os.getpgid(os.getppid()), signal.SIGKILL)\n")
    (tmp_path / "fine.py").write_text("print(1)\n")
    warm = PreforkServer(PYTHON, child_environment())
    try:
        assert warm.run(["fine.py"], tmp_path, child_environment(), HANGS).stdout == "1\n"
        with pytest.raises(PreforkError):
            for _ in range(3):
                warm.run(["script.py"], tmp_path, child_environment(), HANGS)
    finally:
        warm.close()
    with pytest.raises(PreforkError):
        warm.run(["fine.py"], tmp_path, child_environment(), HANGS)


def test_a_server_that_is_killed_with_a_request_unread_is_told() -> None:
    """A socket that is closed with unread data resets the connection in place of ending it."""
    warm = PreforkServer(PYTHON, child_environment())
    ours, theirs = socket.socketpair()
    (out, out_end), (err, err_end) = os.pipe(), os.pipe()
    os.close(out_end)
    os.close(err_end)
    with ours:
        ours.sendall(b"a request")
        theirs.close()
        with pytest.raises(PreforkError, match="died while it ran"):
            warm._gather(ours, out, err, HANGS, 1000, None, None)
    os.close(out)
    os.close(err)
    warm.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
def test_close_ends_the_server(tmp_path: Path) -> None:
    mark = f"MARK_{uuid.uuid4().hex}"
    warm = PreforkServer(PYTHON, {**child_environment(), mark: "1"})
    (tmp_path / "fine.py").write_text("print(1)\n")
    warm.run(["fine.py"], tmp_path, {**child_environment(), mark: "1"}, HANGS)
    assert _living(mark)
    warm.close()
    assert _living(mark) == []
    assert signal.getsignal(signal.SIGCHLD) in (signal.SIG_DFL, signal.Handlers.SIG_DFL)


def test_a_branch_has_run_its_code_and_its_parent_has_not(warm: PreforkServer, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import sys\nprint('wave' in sys.modules, len(sys.modules) > 0)\n")
    branch = warm.branch("assert word == 'given'\nimport wave", {"word": "given"})
    try:
        said = [each.run(["script.py"], tmp_path, child_environment(), HANGS).stdout for each in (branch, warm)]
        assert said == ["True True\n", "False True\n"]
    finally:
        branch.close()
    with pytest.raises(PreforkError):
        branch.run(["script.py"], tmp_path, child_environment(), HANGS)


def test_where_the_code_of_a_branch_fails_its_parent_serves(warm: PreforkServer, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import sys\nprint('wave' in sys.modules)\n")
    branch = warm.branch("import wave\nraise SystemExit(3)", {})
    assert branch.run(["script.py"], tmp_path, child_environment(), HANGS).stdout == "False\n"
    branch.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="processes are looked for in /proc")
def test_branches_end_with_their_server(tmp_path: Path) -> None:
    mark = f"MARK_{uuid.uuid4().hex}"
    warm = PreforkServer(PYTHON, {**child_environment(), mark: "1"})
    (tmp_path / "fine.py").write_text("print(1)\n")
    branch = warm.branch("import wave", {})
    assert branch.run(["fine.py"], tmp_path, {**child_environment(), mark: "1"}, HANGS).stdout == "1\n"
    warm.close()
    assert _living(mark) == []
