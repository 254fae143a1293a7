"""PyTorch's compiler is imported when something needs it, and what it runs meanwhile is none of the program's."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import devfix.probe

pytestmark = pytest.mark.slow

ENTRY = Path(devfix.probe.__file__).parent / "entry"
COUNTING = """
import sys, torch
compiler = __import__("devfix probe.provenance.compiler_import", fromlist=["compiler_import"])
if sys.argv[1] == "before":
    import late
compiler.NAME = "late"
compiler.install()
import late
getattr(late, "x", None)
records = __import__("devfix probe.provenance.records", fromlist=["records"])
print(records.operations())
"""
TRAINING = """
import sys, torch
layer = torch.nn.Linear(3, 2, device=sys.argv[1])
optimizer = torch.optim.Adam(layer.parameters())
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
for _ in range(2):
    optimizer.zero_grad()
    layer(torch.ones(4, 3, device=sys.argv[1])).sum().backward()
    optimizer.step()
    schedule.step()
imported = lambda: sum(name.startswith("torch._dynamo.") for name in sys.modules)
print(imported())
"""
# Each asks for the compiler in another way, after an optimizer has.
ASKING = {
    "an attribute": "print(torch._dynamo.config.cache_size_limit > 0)",
    "a module of it": "import torch._dynamo.config as config\nprint(config.cache_size_limit > 0)",
    "a name of it": "from torch._dynamo import optimize\nprint(callable(optimize))",
    "a whole graph": "print(torch.compile(lambda x: x + 1, fullgraph=True)(torch.ones(1)).item() == 2)",
    "disable": "print(torch.compiler.disable(lambda x: x + 1)(1) == 2)",
    "a setting": "torch._dynamo.config.suppress_errors = True\nprint(torch._dynamo.config.suppress_errors)",
    "a reload": "import importlib\nprint(hasattr(importlib.reload(torch._dynamo), 'optimize'))",
    "a step afterwards": "import torch._dynamo.config\noptimizer.zero_grad()\noptimizer.step()\nprint(True)",
}


def run(folder: Path, program: str, *words: str) -> list[str]:
    (folder / "program.py").write_text(program, encoding="utf-8")
    order = {"world": {"kind": "simulated", "gpus": 1, "current": 0}, "traces": os.devnull}
    path = os.pathsep.join((str(ENTRY), str(folder)))
    environment = {**os.environ, "DEVFIX_PROBE": json.dumps(order), "PYTHONPATH": path}
    command = [sys.executable, str(folder / "program.py"), *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_what_an_import_runs_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "late.py").write_text("import torch\nx = torch.ones(2)\nfor _ in range(7):\n    x = x + 1\n", "utf-8")
    before, watched = (int(run(tmp_path, COUNTING, when)[0]) for when in ("before", "watched"))
    assert before - watched == 8


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_an_optimizer_does_not_import_the_compiler(tmp_path: Path, device: str) -> None:
    assert run(tmp_path, TRAINING, device) == ["0"]


@pytest.mark.parametrize("asked", ASKING)
def test_the_compiler_is_imported_where_it_is_asked_for(tmp_path: Path, asked: str) -> None:
    first, last, imported = run(tmp_path, f"{TRAINING}{ASKING[asked]}\nprint(imported() > 20)\n", "cuda")
    assert (first, last, imported) == ("0", "True", "True")


def test_functions_that_were_asked_about_before_are_not_compiled_later(tmp_path: Path) -> None:
    later = """
import torch._dynamo.testing
counter = torch._dynamo.testing.CompileCounter()
torch.compile(lambda: optimizer.zero_grad(set_to_none=False), backend=counter)()
print(counter.frame_count)
"""
    plain = "import torch._dynamo\ntorch._dynamo.config\n"
    assert run(tmp_path, TRAINING + later, "cpu")[1:] == run(tmp_path, plain + TRAINING + later, "cpu")[1:]


def test_a_failing_import_is_as_without_the_probe(tmp_path: Path) -> None:
    failing = """
import sys, torch
sys.modules["torch._dynamo.config"] = None
try:
    import torch._dynamo
    torch._dynamo.config
except ImportError as error:
    print(type(error).__name__, "torch._dynamo" in sys.modules)
"""
    assert run(tmp_path, failing) == ["ModuleNotFoundError False"]
