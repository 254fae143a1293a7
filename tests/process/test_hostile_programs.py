"""Programs that mean harm, or behave as if they did: real repairs of them, without a sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_programs import repair
from fault_injection import PROGRAM
from git_repositories import fingerprint, git
from probe_programs import ENTRY
from verdict_programs import project

import devfix
from devfix.pipeline.opening.resource_options import ResourceOptions

# What a program does before it fails as any other: each must be repaired as if it had done nothing.
MISCHIEF = {
    "deletes its worktree": "import shutil, os\nshutil.rmtree(os.getcwd())\n",
    "rewrites hooks and settings": (
        "import os\nos.makedirs('.git/hooks', exist_ok=True)\n"
        "for name in ('post-checkout', 'pre-commit', 'reference-transaction', 'post-index-change'):\n"
        "    open(f'.git/hooks/{name}', 'w').write('#!/bin/sh\\ntouch {ran}\\n')\n"
        "    os.chmod(f'.git/hooks/{name}', 0o755)\n"
        "open('.git/config', 'a').write('[core]\\n\\tfsmonitor = touch {ran}\\n\\tworktree = {root}\\n')\n"
        "open('.git/HEAD', 'w').write('nonsense')\n"
    ),
    "closes its folders": "import os\nos.chmod('.', 0o500); os.chmod('.git', 0)\n",
    "changes the import path": "import sys\nsys.path[:] = [path for path in sys.path if path != {entry!r}]\n",
    "replaces torch's functions": (
        "torch.Tensor.to = lambda self, *a, **k: self\ntorch.cuda.device_count = lambda: 99\n"
    ),
    "ignores signals": "import signal\nfor n in (1, 2, 15): signal.signal(n, signal.SIG_IGN)\n",
    "leaves daemons": "import subprocess\nsubprocess.Popen(['setsid', 'sleep', '300'])\n",
    "prints without measure": "import sys\nfor _ in range(40): sys.stderr.write('\\x1b[2J' * 200_000)\n",
    "writes other traces": (
        "import json, os\nplace = json.loads(os.environ['DEVFIX_PROBE'])['traces']\n"
        "os.mkfifo(place + '/0-0.json'); os.symlink('/dev/zero', place + '/0-1.json')\n"
        "open(place + '/0-2.json', 'w').write('{\"schema\": \"devfix-trace/1\", \"failure\": []}')\n"
        "open(place + '/0-\\x1b[31m.json', 'w').write('[' * 100_000)\n"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MISCHIEF)
def test_it_is_repaired_all_the_same_or_left_alone(name: str, tmp_path: Path) -> None:
    mischief = MISCHIEF[name].replace("{ran}", str(tmp_path / "ran")).replace("{root}", str(tmp_path / "project"))
    mischief = mischief.replace("{entry!r}", repr(str(ENTRY.resolve())))
    root = project(tmp_path, PROGRAM.replace("import torch\n", f"import torch\n{mischief}", 1))
    before = fingerprint(root)
    report = devfix.repair(root, run="python main.py", world="simulated", dry_run=True)
    assert fingerprint(root) == before and not (tmp_path / "ran").exists()
    assert report.outcome in ("repaired", "unrepaired"), report.last_run
    assert "\x1b" not in "".join(report.notes)
    if name not in ("replaces torch's functions", "deletes its worktree"):
        assert report.outcome == "repaired", report.last_run


@pytest.mark.slow
def test_hooks_that_it_writes_into_the_repository_itself_are_not_run(tmp_path: Path) -> None:
    """Without the sandbox it can write there, as anything that its user starts; devfix and its git run none of it."""
    hooks, ran = tmp_path / "project" / ".git" / "hooks", tmp_path / "ran"
    writes = (
        "import torch, os\nfor name in ('post-checkout', 'reference-transaction', 'post-index-change'):\n"
        f"    path = os.path.join({str(hooks)!r}, name)\n    os.makedirs({str(hooks)!r}, exist_ok=True)\n"
        f"    open(path, 'w').write('#!/bin/sh\\ntouch {ran}\\n'); os.chmod(path, 0o755)\n"
        f"open({str(hooks.parent / 'config')!r}, 'a').write('[core]\\n\\tfsmonitor = touch {ran}\\n')\n"
    )
    root = project(tmp_path, PROGRAM.replace("import torch\n", writes, 1))
    report = devfix.repair(root, run="python main.py", world="simulated")
    assert report.outcome == "repaired" and report.branch and (hooks / "post-checkout").exists()
    assert not ran.exists()


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["os.getppid()", "int(open(f'/proc/{os.getppid()}/stat').read().split()[3])"])
def test_one_that_kills_what_watches_it_does_no_harm(victim: str, tmp_path: Path) -> None:
    """Its supervisor, and the process above, which may be devfix without the sandbox: the next run clears up."""
    kills = f"import torch, os\nif torch.cuda.is_available():\n    os.kill({victim}, 9)\n"
    root = project(tmp_path, PROGRAM.replace("import torch\n", kills, 1))
    before = fingerprint(root)
    done = repair(root, "--dry-run")
    assert done.returncode in (0, 1, 2, -9) and "Traceback" not in done.stderr, done.stderr
    assert fingerprint(root) == before


FORGED = """import json, os, sys
order = json.loads(os.environ["DEVFIX_PROBE"])
tree, outside = order["owned"], {victim!r}
place = lambda path: {{"path": path, "line": 3, "end_line": 3, "column": 0, "end_column": 5, "function": "f"}}
places = [place(tree + "/../" * 9 + outside), place(outside)]
event = {{"kind": "factory", "op": "aten::arange", "device": "cpu", "places": places}}
failure = {{
    "kind": "device-mismatch", "exception": "RuntimeError", "message": "\\x1b]0;owned\\x07 Expected all tensors",
    "op": "aten::add", "uncaught": True, "operations": 1 << 60, "traceback": "\\u202e" * 1000,
    "frames": [{{"place": place(outside), "scope": []}}, {{"place": place(tree + "/.git/config"), "scope": []}}],
    "operands": [{{"argument": "self", "device": "cuda:0", "names": [{{"frame": 999, "expression": "x; import os"}}]}},
                 {{"argument": "other", "device": "cpu", "history": [event] * 50,
                   "names": [{{"frame": -1, "expression": "y"}}]}}],
}}
with open(order["traces"] + "/9-9.json", "w") as file:
    json.dump({{"schema": "devfix-trace/1", "failure": failure, "process": {{"pid": 1}}}}, file)
sys.exit(1)
"""


@pytest.mark.slow
def test_a_forged_failure_leads_to_no_edit(tmp_path: Path) -> None:
    victim = tmp_path / "victim.py"
    victim.write_text("import torch\n\ny = torch.arange(3)\n")
    root = project(tmp_path, FORGED.format(victim=str(victim)))
    before = fingerprint(tmp_path)
    done = repair(root, "--dry-run")
    assert done.returncode == 1, done.stderr
    assert "\x1b" not in done.stdout + done.stderr and "\u202e" not in done.stdout
    assert {name: state for name, state in fingerprint(tmp_path).items() if name in before} == before


LIMITS = {
    "memory": ("kept = [bytearray(b'x') * 10_000_000 for _ in range(10_000)]\n", ResourceOptions(memory=1.2), "memory"),
    "processes": (
        "import os, time\nfor _ in range(60):\n    if os.fork() == 0: break\ntime.sleep(6000)\n",
        ResourceOptions(processes=30),
        "processes",
    ),
    "a file": (
        "file = open('large', 'wb')\nfor _ in range(100): file.write(bytes(1_000_000))\n",
        ResourceOptions(file_size=0.02),
        "File too large",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LIMITS)
def test_what_takes_too_much_is_ended_and_told(name: str, tmp_path: Path) -> None:
    program, bounds, said = LIMITS[name]
    root = project(tmp_path, program)
    report = devfix.repair(root, run="python main.py", world="simulated", resources=bounds)
    assert report.outcome in ("error", "unrepaired") and report.last_run is not None
    assert said in " ".join((*report.last_run.internal_errors, report.last_run.stderr))


@pytest.mark.slow
def test_the_limits_come_from_options_and_settings(tmp_path: Path) -> None:
    root = project(tmp_path, LIMITS["processes"][0])
    done = repair(root, "--processes", "30")
    assert done.returncode == 1 and "more than 30 processes" in done.stdout
    (root / "devfix.toml").write_text("processes = 20\n")
    done = repair(root)
    assert "more than 20 processes" in done.stdout


def test_the_interpreter_is_not_asked_by_files_of_the_repository(tmp_path: Path) -> None:
    """`json.py` in the folder must not stand in for Python's own, nor leave a cache there."""
    root = project(tmp_path, PROGRAM, **{"json.py": f"open({str(tmp_path / 'ran')!r}, 'w')\n"})
    before = fingerprint(root)
    from devfix.discovery import examine, interpreter

    assert examine(interpreter(root), root).torch
    assert not (tmp_path / "ran").exists()
    assert fingerprint(root).keys() == before.keys()
    assert git(root, "status", "--short") == ""
