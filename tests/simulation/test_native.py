"""The compiled hot paths: the same results as Python's, and no harm where they cannot be built or loaded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROBE = Path(__file__).resolve().parents[2] / "src" / "devfix" / "probe"
BUILD = PROBE / "simulation" / "native" / "build.py"
LOADED = 'sys.modules["devfix probe.simulation.native.loading"].extension() is not None'

needs_compiler = pytest.mark.skipif(not shutil.which("g++") or sys.platform != "linux", reason="needs g++ on Linux")

# Each line's value is printed, or the error that it raises, and then where the provenance says it comes from.
PROGRAM = f"""
import sys, torch
places, records, operators = (
    sys.modules["devfix probe." + name]
    for name in ("provenance.places", "provenance.records", "simulation.operator_tables.operators"))
torch.manual_seed(0)
g = torch.Generator("cuda").manual_seed(3)
x = torch.arange(6.0, device="cuda").reshape(2, 3)
w = torch.nn.Parameter(torch.ones(2, 3, device="cuda"))
h = torch.ones(2, 3)
n = torch.tensor([1, 2, 3], device="cuda")

def told(event):
    at = [(place["line"], place["column"], place["function"]) for place in places.tell_all(event[1])]
    return operators.base_name(event[0]), at, event[2:4]

def history(tensor):
    known = records.of(tensor)
    if known is None:
        return None
    event, steps = known[0], []
    while event is not None:
        steps.append(told(event))
        event = event[4]
    return steps, known[1] and told(known[1]), known[2] and told(known[2])

def inplace():
    y = x.clone()
    y[0].add_(1)
    return y.mul_(2), y._version

def backward():
    w.grad = None
    ((x @ w.t()).relu().sum() * 2 - w.exp().mean()).backward()
    return w.grad

def long():
    y = x
    for _ in range(30):
        y = y + 1
    return y

def many(tensor, *more, **named):
    return torch.cat([tensor, tensor], 0) + torch.stack([tensor, *more]).sum(0).repeat(2, 1), named

CASES = [
    lambda: x + x, lambda: x * 2, lambda: 2 - x, lambda: x ** 2, lambda: -x, lambda: x / w, lambda: x + h,
    lambda: h + 1, lambda: h * x, lambda: torch.exp(h), lambda: h.view(3, 2), lambda: h.sum().item(),
    lambda: torch.exp(input=x), lambda: x.sum(dim=1, keepdim=True), lambda: x.amax(1), lambda: x.clamp(min=1, max=3),
    lambda: x.view(3, 2), lambda: x.view(6)[1:4], lambda: x.t(), lambda: x.contiguous() is x, lambda: x.expand(4, 2, 3),
    lambda: torch.mm(x, x.t()), lambda: n.view(1, 3) @ n, lambda: torch.mm(n.view(1, 3), n.view(3, 1)),
    lambda: many(x, x, key=1), lambda: torch.cat([x, h]), lambda: torch.cat([]), lambda: x + "a", lambda: x.view(7),
    lambda: x[0].item(), lambda: x[0, 1].item(), lambda: bool(x), lambda: int(n[1]), lambda: float(w[0, 0]),
    lambda: torch.where(x > 2, x, w), lambda: x.max(0), lambda: x.split(1), lambda: torch.add(x, 1, out=x.clone()),
    lambda: torch.randn(3, device="cuda"), lambda: torch.rand(2, device="cuda", generator=g), lambda: torch.randn(2),
    lambda: torch.randint(0, 9, (4,), device="cuda"), lambda: torch.randperm(5, device="cuda"),
    lambda: torch.nn.functional.dropout(x, 0.5), lambda: x.clone().normal_(), lambda: torch.zeros(2, device="cuda"),
    lambda: torch.full((2,), 3.5, dtype=torch.float64, device="cuda:0"), lambda: torch.zeros(2, device="cuda:7"),
    lambda: torch.tensor([1.0, 2.0], device="cuda"), lambda: x.cpu(), lambda: x.double(), lambda: x.to(torch.int64),
    lambda: torch.complex(x, x).conj() * 2, lambda: torch.complex(x, x).imag, lambda: x // 0, lambda: n // 0,
    lambda: w + 1, lambda: w.exp(), lambda: w.view(3, 2), lambda: w.detach() + 1, inplace, backward, long,
    lambda: torch.zeros_like(x), lambda: torch.zeros_like(w), lambda: torch.full_like(x.t(), 2, dtype=torch.int64),
    lambda: torch.ones_like(x, requires_grad=True), lambda: x.new_zeros(2, 3), lambda: x.new_full((2,), 7.0),
    lambda: x.new_ones(2, device="cpu"), lambda: x.new_zeros(2, device="cuda:1"),
    lambda: torch.func.vmap(torch.zeros_like)(x),
    lambda: torch.jit.trace(lambda y: y.sigmoid() + y.new_ones(3), (x,))(x),
    lambda: torch.linalg.inv(x @ x.t() + torch.eye(2, device="cuda")), lambda: torch.nn.Linear(3, 2).cuda()(x),
    lambda: torch.func.vmap(lambda row: row * 2)(x), lambda: torch.func.grad(lambda y: (y * y).sum())(x),
]
for number, case in enumerate(CASES):
    for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        with mode():
            try:
                value = case()
            except Exception as error:
                print(number, mode.__name__, type(error).__name__, str(error).splitlines()[0], error.__context__)
                continue
        values = value if isinstance(value, tuple) else (value,)
        for each in values:
            if isinstance(each, torch.Tensor):
                told_of = each.tolist(), each.dtype, each.device, each.stride(), each.is_leaf, history(each)
                print(number, mode.__name__, *told_of)
            else:
                print(number, mode.__name__, repr(each))
print(records.operations())
print({LOADED}, file=sys.stderr)
"""

# Each tensor in a shell of Python's and in one of the extension's: what C++ knows of both.
SHELLS = """
import sys, torch
tensor = sys.modules["devfix probe.simulation.tensors.tensor"]
base = torch.arange(24.0).reshape(2, 3, 4)
number = torch.complex(base, base)
makers = [
    lambda: base, lambda: base[1, 1:], lambda: base.permute(2, 0, 1), lambda: base[0, 0, 0], lambda: base.half(),
    lambda: base.expand(5, 2, 3, 4), lambda: base[:0], lambda: base[..., ::2], lambda: torch.empty(0),
    lambda: base.bool(), lambda: number, lambda: number.conj(), lambda: number.conj().imag, lambda: number[1].conj(),
    lambda: base.to_sparse(), lambda: base[0].to_sparse_csr(), lambda: base.to(torch.float8_e5m2),
    lambda: torch.nn.Parameter(base), lambda: torch.empty_strided((2, 3), (7, 2)),
    lambda: torch.nested.nested_tensor([base[0], base[1, :2]]),
]
def told(shell):
    plain = shell.layout is torch.strided and not shell.is_nested
    memory = plain and (shell.stride(), shell.storage_offset(), torch._C.TensorBase.untyped_storage(shell).nbytes())
    return (type(shell), torch._C._dispatch_keys(shell).raw_repr(), None if shell.is_nested else shell.shape, memory,
            shell.dtype, tensor.device_of(shell), shell.is_inference(), shell._is_view(), shell.is_leaf,
            shell.requires_grad, shell._devfix_gpu, sorted(vars(shell)))
for inference in (False, True):
    for maker in makers:
        with torch.inference_mode(inference), torch.utils._python_dispatch._disable_current_modes():
            held = maker()
            for ours, reference in ((tensor.wrap, tensor._wrap), (tensor.wrap_new, tensor._wrap_new)):
                assert ours is not reference
                one, two = ours(held, 1), reference(held, 1)
                assert told(one) == told(two), (held, told(one), told(two))
                assert one._devfix_held is held
print("same")
"""


def environment(**more: str) -> dict[str, str]:
    world = {"world": {"kind": "simulated", "gpus": 2, "current": 0}, "traces": os.devnull}
    told = {"DEVFIX_PROBE": json.dumps(world), "PYTHONPATH": str(PROBE / "entry"), "PYTHONHASHSEED": "0"}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("DEVFIX")}
    return {**kept, **told, **more}


def run(program: str, **more: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-c", program] if "\n" not in program else [sys.executable, "-"]
    given = program if "\n" in program else None
    return subprocess.run(words, input=given, env=environment(**more), capture_output=True, text=True, check=False)


def start_build(cache: Path, **more: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-IB", str(BUILD), "--wait"], env={**os.environ, "XDG_CACHE_HOME": str(cache), **more}
    )


def files_in(cache: Path) -> list[Path]:
    return sorted((cache / "devfix" / "native").glob("*"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two builds that were started at once, in one cache, where an earlier one was killed."""
    cache, temporary = tmp_path_factory.mktemp("cache"), tmp_path_factory.mktemp("temporary")
    abandoned = cache / "devfix" / "native" / "building-abc"
    abandoned.mkdir(parents=True, mode=0o700)
    abandoned.parent.chmod(0o700)
    os.utime(abandoned, (0, 0))
    both = [start_build(cache, TMPDIR=str(temporary)) for _ in range(2)]
    codes = sorted(each.wait() for each in both)
    assert codes in ([0, 0], [0, 1])
    assert list(temporary.iterdir()) == []
    yield cache


@needs_compiler
@pytest.mark.slow
def test_two_builds_at_once_leave_one_file(built: Path) -> None:
    (file,) = files_in(built)
    assert file.suffix == ".so"
    assert start_build(built).wait() == 0


@needs_compiler
@pytest.mark.slow
def test_a_build_writes_no_bytecode(tmp_path: Path) -> None:
    """The build goes on when devfix has ended, and what it imports may be removed by then."""
    cache, bytecode = tmp_path / "cache", tmp_path / "bytecode"
    assert start_build(cache, PYTHONPYCACHEPREFIX=str(bytecode), PYTHONDONTWRITEBYTECODE="").wait() == 0
    assert [file.suffix for file in files_in(cache)] == [".so"]
    assert not bytecode.exists()


@needs_compiler
@pytest.mark.slow
def test_programs_have_the_same_results_errors_and_histories(built: Path) -> None:
    (file,) = files_in(built)
    script = built / "program.py"
    script.write_text(PROGRAM, "utf-8")
    told = [
        subprocess.run(
            [sys.executable, str(script)],
            env=environment(XDG_CACHE_HOME=str(built), **more),
            capture_output=True,
            text=True,
            check=False,
        )
        for more in ({"DEVFIX_NATIVE": "0"}, {}, {"DEVFIX_NATIVE": str(file)})
    ]
    assert [each.returncode for each in told] == [0, 0, 0], told[1].stderr[-2000:]
    assert [each.stderr.splitlines()[-1] for each in told] == ["False", "True", "True"]
    reference = told[0].stdout.splitlines()
    assert len(reference) > 180
    for each in told[1:]:
        lines = each.stdout.splitlines()
        assert [pair for pair in zip(lines, reference, strict=True) if pair[0] != pair[1]] == []


@needs_compiler
@pytest.mark.slow
def test_shells_are_those_of_python(built: Path) -> None:
    (file,) = files_in(built)
    ran = run(SHELLS, DEVFIX_NATIVE=str(file))
    assert ran.stdout.splitlines() == ["same"], ran.stderr


@needs_compiler
@pytest.mark.slow
def test_a_file_that_others_may_write_is_not_loaded(built: Path) -> None:
    (file,) = files_in(built)
    copy = built / "copy.so"
    shutil.copyfile(file, copy)
    copy.chmod(0o700)
    asked = f"import sys, torch; print({LOADED})"
    assert run(asked, DEVFIX_NATIVE=str(copy)).stdout.strip() == "True"
    copy.chmod(0o766)
    assert run(asked, DEVFIX_NATIVE=str(copy)).stdout.strip() == "False"


@pytest.mark.slow
def test_a_file_for_something_else_is_not_loaded(tmp_path: Path) -> None:
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"no library")
    broken.chmod(0o700)
    ran = run(
        f"import sys, torch; print({LOADED}, torch.ones(2, device='cuda').add(1).tolist())", DEVFIX_NATIVE=str(broken)
    )
    assert ran.stdout.split(" ", 1) == ["False", "[2.0, 2.0]\n"], ran.stderr


@pytest.mark.slow
def test_without_a_compiler_the_failure_is_kept(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("nothing is built elsewhere")
    more = {"CXX": "/nonexistent/c++", "PATH": str(tmp_path)}
    assert start_build(tmp_path, **more).wait() == 1
    (told,) = files_in(tmp_path)
    assert told.suffix == ".failed" and "no C++ compiler" in told.read_text("utf-8")
    assert start_build(tmp_path).wait() == 1  # not tried again so soon
    assert files_in(tmp_path) == [told]


def test_a_cache_that_cannot_be_written_to_is_left_alone(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("", "utf-8")
    assert start_build(in_the_way).wait() == 1
