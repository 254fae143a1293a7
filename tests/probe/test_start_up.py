"""What the probe does while torch is imported: the collector waits, and its own bytecode is written once."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from probe_programs import ENTRY, PYTHON, environment, run_program
from waiting import HANGS

from devfix.execution.prefork import PreforkServer
from devfix.execution.probe_config import environment_for
from devfix.model import World
from devfix.process import child_environment, run

COLLECTIONS = """
import gc
{before}
seen = []
gc.callbacks.append(lambda phase, info: seen.append(phase) if phase == "start" else None)
import torch
gc.callbacks.clear()
print(len(seen), gc.isenabled(), gc.get_freeze_count())
"""
CYCLE = """
import gc, weakref
import torch
class Node: pass
node = Node()
node.itself = node
seen = weakref.ref(node)
del node
gc.collect()
print(seen(), gc.isenabled())
"""
BROKEN = """
import gc
try:
    import torch
except ImportError as error:
    print(error, gc.isenabled())
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "before, expected",
    [
        pytest.param("", "0 True 0", id="it is enabled"),
        pytest.param("gc.disable()", "0 False 0", id="the program has disabled it"),
        pytest.param("gc.freeze()", "1 True ", id="the program has frozen objects, which stay"),
    ],
)
def test_no_garbage_is_collected_while_torch_is_imported(tmp_path: Path, before: str, expected: str) -> None:
    ran = run_program(tmp_path, COLLECTIONS.format(before=before))
    assert ran.done.stdout.startswith(expected), (ran.done.stdout, ran.done.stderr)
    if "freeze" in before:
        assert int(ran.done.stdout.split()[2]) > 0


def test_the_collector_is_enabled_where_torch_cannot_be_imported(tmp_path: Path) -> None:
    ran = run_program(tmp_path, BROKEN, files={"torch.py": "raise ImportError('broken')\n"})
    assert ran.done.stdout == "broken True\n", ran.done.stderr


def test_a_forked_program_has_its_collector(tmp_path: Path, warm: PreforkServer) -> None:
    assert run_program(tmp_path, CYCLE, warm=warm).done.stdout == "None True\n"


@pytest.mark.slow
@pytest.mark.parametrize("allowed", [True, False], ids=["written", "refused by the user"])
def test_the_probe_is_compiled_once(tmp_path: Path, allowed: bool) -> None:
    probe = tmp_path / "probe"
    shutil.copytree(ENTRY.parent, probe, ignore=shutil.ignore_patterns("__pycache__"))
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "helper.py").write_text("import torch\n")
    (folder / "main.py").write_text("import helper, sys\nprint(sys.dont_write_bytecode)\n")
    order = json.loads(environment(tmp_path)["DEVFIX_PROBE"])
    user = {**child_environment(), **({} if allowed else {"PYTHONDONTWRITEBYTECODE": "1"})}
    given = environment_for(World("simulated", 1), order, user)
    done = run([str(PYTHON), "main.py"], folder, {**given, "PYTHONPATH": str(probe / "entry")}, HANGS)
    assert done.stdout == "True\n", done.stderr
    assert not list(folder.rglob("*.pyc")), "those of the program are not"
    written = {path.name.partition(".")[0] for path in probe.rglob("*.pyc")}
    assert {"bootstrap", "dispatch", "tensor"} <= written if allowed else not written
