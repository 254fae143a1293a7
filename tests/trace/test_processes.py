"""Traces of threads, child processes, loaders, test runners and other entries; each in real, fresh processes."""

from __future__ import annotations

import os
import sys
import venv
from pathlib import Path

import pytest
from probe_programs import ENTRY, PYTHON, environment, run_program

from devfix.execution.prefork import PreforkServer
from devfix.process import run

WORK = """
import sys
import venv
import torch
import torch.multiprocessing as mp

def work(rank):
    a = torch.ones(3, device="cuda")
    return a + torch.zeros(3)

if __name__ == "__main__":
    {start}
"""


def test_an_exception_raised_again_in_the_main_thread_tells_its_origin(tmp_path: Path, warm: PreforkServer) -> None:
    ran = run_program(
        tmp_path,
        """
        import torch
        from concurrent.futures import ThreadPoolExecutor

        def work(x):
            w = torch.ones(3)
            return x + w

        with ThreadPoolExecutor(1) as pool:
            pool.submit(work, torch.ones(3).cuda()).result()
        """,
        warm=warm,
    )
    failure = ran.failure
    assert failure["thread"].startswith("ThreadPoolExecutor") and failure["uncaught"]
    assert ran.text(failure["frames"][-1]["place"]) == "x + w"
    assert {name["expression"] for operand in failure["operands"] for name in operand["names"]} == {"x", "w"}


def test_an_exception_that_ends_a_thread(tmp_path: Path, warm: PreforkServer) -> None:
    ran = run_program(
        tmp_path,
        """
        import threading, torch
        def work():
            torch.ones(2).cuda() * torch.ones(2)
        thread = threading.Thread(target=work, name="worker-7")
        thread.start()
        thread.join()
        """,
        warm=warm,
    )
    assert ran.done.exit_code == 0
    assert (ran.failure["thread"], ran.failure["uncaught"]) == ("worker-7", True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "start",
    [
        'p = mp.get_context("fork").Process(target=work, args=(0,)); p.start(); p.join(); sys.exit(p.exitcode)',
        'p = mp.get_context("spawn").Process(target=work, args=(0,)); p.start(); p.join(); sys.exit(p.exitcode)',
        "mp.spawn(work, nprocs=1)",
        "from concurrent.futures import ProcessPoolExecutor as P; P(1).submit(work, 0).result()",
        'p = mp.get_context("forkserver").Process(target=work, args=(0,)); p.start(); p.join(); sys.exit(p.exitcode)',
        'mp.start_processes(work, nprocs=1, start_method="forkserver")',
        'mp.get_context("forkserver").Pool(1).map(work, [0])',
    ],
)
def test_child_processes(tmp_path: Path, start: str) -> None:
    ran = run_program(tmp_path, WORK.format(start=start))
    assert ran.done.exit_code == 1, ran.done.stderr
    failures = [trace["failure"] for trace in ran.traces if trace["failure"] and trace["failure"]["uncaught"]]
    assert failures, ran.traces
    for failure in failures:
        assert failure["kind"] == "device-mismatch"
        assert [ran.text(each["history"][0]["places"][0]) for each in failure["operands"]] == [
            'torch.ones(3, device="cuda")',
            "torch.zeros(3)",
        ]


LOADER = """
import torch
from torch.utils.data import DataLoader, Dataset

class Numbers(Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, index):
        return torch.ones(3) * index

def main():
    model = torch.nn.Linear(3, 1).cuda()
    for batch in DataLoader(Numbers(), batch_size=2, num_workers={workers}):
        model(batch)

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("workers", [0, 2])
def test_a_batch_of_a_loader(tmp_path: Path, workers: int, warm: PreforkServer) -> None:
    ran = run_program(tmp_path, LOADER.format(workers=workers), warm=warm)
    batch = ran.operand("mat1")
    assert [name["expression"] for name in batch["names"]] == ["batch"]
    creation = batch["history"][0]
    owned = [place for place in creation["places"] if place["path"].endswith("program.py")]
    if workers:
        assert creation["kind"] == "load" and owned[0]["function"] == "main"
    else:
        assert ran.text(owned[0]) == "torch.ones(3)"
    assert len(ran.traces) == 1 + workers


TESTS = """
import pytest, torch

def test_expects_it():
    with pytest.raises(RuntimeError):
        torch.ones(2, device="cuda") + torch.ones(2)

{failing}

@pytest.mark.xfail
def test_known():
    torch.ones(3, device="cuda") + torch.ones(3)
"""
FAILING = """
def test_fails():
    a, b = torch.ones(2, device="cuda"), torch.full((2,), 1.0)
    assert (a - b).sum() == 0
"""


@pytest.mark.slow
def test_pytest_tells_the_test_that_fails(tmp_path: Path) -> None:
    ran = run_program(
        tmp_path, TESTS.format(failing=FAILING), ("-m", "pytest", "-q", "-p", "no:cacheprovider", "program.py")
    )
    assert ran.done.exit_code == 1, ran.done.stdout
    assert ran.failure["uncaught"] and ran.failure["frames"][-1]["place"]["function"] == "test_fails"
    assert "torch.full((2,), 1.0)" in [ran.text(each["history"][0]["places"][0]) for each in ran.failure["operands"]]


@pytest.mark.slow
def test_pytest_without_a_failing_test_has_no_uncaught_failure(tmp_path: Path) -> None:
    ran = run_program(
        tmp_path, TESTS.format(failing=""), ("-m", "pytest", "-q", "-p", "no:cacheprovider", "program.py")
    )
    assert ran.done.exit_code == 0, ran.done.stdout
    assert not (ran.trace["failure"] or {}).get("uncaught")


def test_unittest(tmp_path: Path, warm: PreforkServer) -> None:
    ran = run_program(
        tmp_path,
        """
        import unittest, torch
        class Case(unittest.TestCase):
            def test_a(self):
                with self.assertRaises(RuntimeError):
                    torch.ones(2).cuda() + torch.ones(2)
            def test_b(self):
                torch.ones(2).cuda() / torch.ones(2)
        unittest.main()
        """,
        warm=warm,
    )
    assert ran.failure["uncaught"] and ran.failure["frames"][-1]["place"]["function"] == "Case.test_b"


@pytest.mark.slow
def test_a_module_run_by_its_name(tmp_path: Path) -> None:
    main = "import torch\ntorch.ones(2).cuda() + torch.ones(2)\n"
    ran = run_program(tmp_path, "", ("-m", "package.main"), {"package/__init__.py": "", "package/main.py": main})
    assert ran.failure["frames"][-1]["place"]["path"].endswith("package/main.py")
    assert [frame["place"]["function"] for frame in ran.failure["frames"]] == ["<module>"]


def test_chains_to_the_sitecustomize_that_it_hides(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import sys\nsys.users_own = __file__\n")
    surroundings = environment(tmp_path)
    surroundings["PYTHONPATH"] = os.pathsep.join([str(ENTRY), str(tmp_path / "site")])
    done = run([str(PYTHON), "-c", "import sys; print(sys.users_own)"], tmp_path, surroundings, 60)
    assert done.stdout.strip() == str(tmp_path / "site" / "sitecustomize.py"), done.stderr


def test_imports_are_turned_from_the_users_repository_to_the_worktree(tmp_path: Path) -> None:
    for name in ("original", "repository"):
        (tmp_path / name / "src").mkdir(parents=True)
        (tmp_path / name / "src" / "library.py").write_text(f"where = {name!r}\n")
    inside = tmp_path / "original" / ".venv" / "lib" / "site-packages"
    inside.mkdir(parents=True)
    surroundings = environment(tmp_path, original=str(tmp_path / "original"))
    surroundings["PYTHONPATH"] = os.pathsep.join([str(ENTRY), str(tmp_path / "original" / "src"), str(inside)])
    program = "import sys, library; print(library.where, [p for p in sys.path if 'site-packages' in p][0])"
    done = run([str(PYTHON), "-c", program], tmp_path / "repository", surroundings, 60)
    assert done.stdout.split() == ["repository", str(inside)], done.stderr


def test_a_process_without_torch_pays_almost_nothing(tmp_path: Path) -> None:
    source = "import sys\nprint(*[name for name in sys.modules if 'devfix probe' in name or 'torch' in name])\n"
    ran = run_program(tmp_path, source)
    assert ran.done.stdout.split() == [] and ran.traces == []


def test_death_by_a_signal_leaves_no_trace(tmp_path: Path, warm: PreforkServer) -> None:
    ran = run_program(
        tmp_path, "import os, signal, torch\ntorch.ones(1)\nos.kill(os.getpid(), signal.SIGKILL)\n", warm=warm
    )
    assert ran.done.signal == "SIGKILL" and ran.traces == []


def test_leaving_by_os_exit_leaves_one(tmp_path: Path, warm: PreforkServer) -> None:
    ran = run_program(tmp_path, "import os, torch\ntorch.ones(3).cuda()\nos._exit(3)\n", warm=warm)
    assert ran.done.exit_code == 3
    assert [each["count"] for each in ran.trace["transfers"]] == [1]


def test_python_knows_columns_or_says_so(tmp_path: Path, warm: PreforkServer) -> None:
    ran = run_program(tmp_path, "import torch\n", warm=warm)
    assert ran.trace["process"]["columns"] is (sys.version_info >= (3, 11))


@pytest.mark.parametrize("kind", ["path", "finder"])
def test_editable_installs_are_turned_to_the_worktree(tmp_path: Path, kind: str) -> None:
    editable_wheel = pytest.importorskip("setuptools.command.editable_wheel")
    for name in ("original", "repository"):
        (tmp_path / name / "src" / "demo").mkdir(parents=True)
        (tmp_path / name / "src" / "demo" / "__init__.py").write_text(f"where = {name!r}\n")
    venv.create(tmp_path / "original" / ".venv", symlinks=True)
    site = next((tmp_path / "original" / ".venv" / "lib").glob("python*/site-packages"))
    source = str(tmp_path / "original" / "src")
    if kind == "path":
        (site / "__editable__.demo.pth").write_text(source + "\n")
    else:
        template = editable_wheel._finder_template("demo", {"demo": f"{source}/demo"}, {})
        (site / "__editable___demo_finder.py").write_text(template)
        (site / "__editable__.demo.pth").write_text("import __editable___demo_finder as f; f.install()\n")
    surroundings = environment(tmp_path, original=str(tmp_path / "original"))
    interpreter = str(tmp_path / "original" / ".venv" / "bin" / "python")
    program = "import sys, demo; print(demo.where, [p for p in sys.path if p.endswith('site-packages')][0])"
    plain = run([interpreter, "-c", program], tmp_path, {**surroundings, "PYTHONPATH": ""}, 60)
    turned = run([interpreter, "-c", program], tmp_path, surroundings, 60)
    assert plain.stdout.split() == ["original", str(site)], plain.stderr
    assert turned.stdout.split() == ["repository", str(site)], turned.stderr


@pytest.mark.slow
@pytest.mark.parametrize("is_warm", [False, True])
def test_a_program_that_an_exception_ends_does_not_wait_for_children_that_wait_for_it(
    tmp_path: Path, warm: PreforkServer, is_warm: bool
) -> None:
    program = """
        import torch
        import torch.multiprocessing as mp

        def watch(queue):
            queue.get()

        context = mp.get_context("fork")
        queue = context.SimpleQueue()
        context.Process(target=watch, args=(queue,)).start()
        torch.ones(3, device="cuda") + torch.zeros(3)
        queue.put(1)
    """
    ran = run_program(tmp_path, program, warm=warm if is_warm else None)
    assert not ran.done.timed_out and ran.done.exit_code == 1, ran.done.stderr
    assert ran.failure["kind"] == "device-mismatch" and ran.failure["uncaught"]
