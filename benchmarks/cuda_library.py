"""Ask PyTorch's CUDA library, on a machine without a GPU, what the snippets of the simulation claim.

usage: python benchmarks/cuda_library.py --python PYTHON [--only TEXT | --record FILE] [--work FOLDER]

PYTHON has a build of PyTorch for CUDA, which brings NVIDIA's libraries and their headers. They are replaced by ones
that accept everything and compute nothing (`cuda_runtime.cpp`), so that what PyTorch does on the host before a kernel
runs is what it does on a machine with GPUs: which devices, dtypes and shapes it takes, and in what words it refuses
others. What a snippet asserts of computed values, the library cannot be asked; nor what kernels, cuDNN and NCCL
themselves refuse. Prints each snippet of tests/simulation that the library answers otherwise, and the counts. With
--record it is asked for each operator of PyTorch's database instead, with tensors of several devices and dtypes (PYTHON
then needs expecttest); tests/simulation/test_library_rows.py compares the simulation with that file. Needs g++ and nm.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import cuda_stubs
from needed import ROOT, need

WORK = ROOT / ".venv" / "cuda-library"
SNIPPETS = ROOT / "tests" / "simulation"
RUNTIME = ROOT / "benchmarks" / "cuda_runtime.cpp"
RECORD = """
import sys; from pathlib import Path
sys.path.insert(0, sys.argv[1]); import cuda_operators
cuda_operators.main(Path(sys.argv[2]))
"""
_PACKAGES = ("nvidia-cuda-crt", "nvidia-cuda-cccl")
TOLD = """
import json, os, torch
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
names = ("nvidia-cuda-runtime", "nvidia-cuda-runtime-cu12")
def found(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
print(json.dumps([str(torch.__version__), torch.version.cuda or "", str(Path(torch.__file__).parent),
                  next(filter(None, map(found, names)), "")]))
"""
# A child may use CUDA after its parent here, since nothing is on a device.
ASK = """
import json, sys, warnings
from pathlib import Path
import torch, torch._dynamo, torch.cuda.comm, torch.distributed  # once, for all children
from devfix.probe.conformance import isolated, snippets
warnings.filterwarnings("ignore")
torch.set_num_threads(1)
torch.cuda._is_in_bad_fork = lambda: False
chosen = [each for each in snippets.read(Path(sys.argv[1])) if sys.argv[2] in each.title]
came = isolated.outcomes(chosen, 2, 60.0)
print(json.dumps([[each.title, each.expected, came[each.title], snippets.agrees(came[each.title], each.expected)]
                  for each in chosen]))  # what agrees depends on the release
"""


def build(python: Path, work: Path) -> Path:
    """Build the library that replaces NVIDIA's, and return it; raises SystemExit without a build for CUDA."""
    told = subprocess.run([str(python), "-c", TOLD], capture_output=True, text=True)
    if told.returncode:
        raise SystemExit(f"{python} cannot import torch: {told.stderr.strip().splitlines()[-1]}")
    release, cuda, package, runtime = json.loads(told.stdout)
    if not cuda:
        raise SystemExit(f"{python} has torch {release}: give --python one with the build for CUDA")
    folder = work / release
    library = folder / "libdevfix_cuda.so"
    sources = (RUNTIME, Path(cuda_stubs.__file__))
    if library.exists() and all(library.stat().st_mtime > each.stat().st_mtime for each in sources):
        return library
    folder.mkdir(parents=True, exist_ok=True)
    includes = [*sorted(Path(package).parent.glob("nvidia/*/include")), *_compiler_headers(runtime, folder)]
    own = RUNTIME.read_text(encoding="utf-8")
    libraries = [path for name in cuda_stubs.LIBRARIES if (path := Path(package) / "lib" / name).exists()]
    defined = cuda_stubs.defined(own)
    defined |= {f"{name}_v2" for name in defined}  # by which macros of CUDA 12 name some of them
    known, others = cuda_stubs.write(cuda_stubs.called(libraries) - defined, includes)
    headers = "".join(f"#include <{each}>\n" for each in cuda_stubs.HEADERS)
    (folder / "all.cpp").write_text(f"{headers}{own}\n{known}\n", encoding="utf-8")
    (folder / "others.c").write_text(f"{others}\n", encoding="utf-8")
    options = ["-O1", "-fPIC", "-w"]
    subprocess.run(["gcc", *options, "-c", "others.c", "-o", "others.o"], cwd=folder, check=True)
    words = ["g++", *options, "-shared", "-fpermissive", *(f"-I{each}" for each in includes)]
    subprocess.run([*words, "-o", library.name, "all.cpp", "others.o"], cwd=folder, check=True)
    driver = folder / "libcuda.so.1"  # PyTorch asks the system for it, where a driver is installed
    driver.unlink(missing_ok=True)
    driver.symlink_to(library.name)
    return library


def _compiler_headers(runtime: str, folder: Path) -> list[Path]:
    """Return the folders of the headers that come with NVIDIA's compiler alone, installed into `folder` at first."""
    target = folder / "headers"
    if not target.exists():
        major, minor = runtime.split(".")[:2]
        packages = ("nvidia-cuda-nvcc-cu12", "nvidia-cuda-cccl-cu12") if major == "12" else _PACKAGES
        names = [f"{name}=={major}.{minor}.*" for name in packages]
        words = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), *names]
        if subprocess.run(words).returncode:
            raise SystemExit(
                f"{' and '.join(names)} cannot be installed, which the headers of the CUDA runtime include"
            )
    return sorted(target.glob("nvidia/*/include"))


def ask(python: Path, library: Path, only: str) -> list[tuple[str, str, str, bool]]:
    """Return the title of each snippet, what it expects, what became of it, and whether they agree."""
    done = run_beside(python, library, "-c", ASK, str(SNIPPETS), only)
    return [tuple(each) for each in json.loads(done.stdout.splitlines()[-1])]


def run_beside(python: Path, library: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the library in place of NVIDIA's; what it prints is captured."""
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "LD_LIBRARY_PATH": str(library.parent),
        "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH")))),
    }
    return subprocess.run([str(python), *words], env=environment, stdout=subprocess.PIPE, text=True, check=True)


def main() -> int:
    """Ask, and print what differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="with PyTorch's build for CUDA")
    parser.add_argument("--only", default="", metavar="TEXT", help="the snippets whose titles have this text")
    parser.add_argument("--work", type=Path, default=WORK, help="keep what is built here")
    parser.add_argument("--record", type=Path, metavar="FILE", help="record operators, by cuda_operators.py, instead")
    asked = parser.parse_args()
    need("devfix", "torch")
    if missing := [each for each in ("g++", "nm") if shutil.which(each) is None]:
        raise SystemExit(f"cuda_library.py needs {' and '.join(missing)}, which are not on the PATH")
    library = build(asked.python, asked.work.absolute())  # the compiler runs in that folder
    if asked.record is not None:
        os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"  # else memory has what earlier operators left
        print(run_beside(asked.python, library, "-c", RECORD, str(RUNTIME.parent), str(asked.record)).stdout, end="")
        return 0
    counts = Counter[str]()
    for title, expected, came, is_so in ask(asked.python, library, asked.only):
        is_of_values = came.startswith("AssertionError") and not expected.startswith("AssertionError")
        kind = "agree" if is_so else "ask for values" if is_of_values else "differ"
        counts[kind] += 1
        if kind == "differ":
            print(f"{title}\n    expected {expected[:300]}\n    answered {came[:300]}")
    print(f"{sum(counts.values())} snippets: " + ", ".join(f"{count} {kind}" for kind, count in counts.most_common()))
    return int(counts["differ"] > 0)


if __name__ == "__main__":
    sys.exit(main())
