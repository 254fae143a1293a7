"""Write an empty definition of each function of CUDA's libraries that PyTorch calls, as their headers declare it.

A definition returns success. Where it is given a place for a handle, a descriptor or a size, it writes one there.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Collection, Iterable
from pathlib import Path

HEADERS = (
    *("cuda.h", "cuda_runtime_api.h", "cublas_v2.h", "cublasLt.h", "curand.h", "cusolverDn.h", "cusparse.h"),
    *("cudnn.h", "nccl.h", "string"),
)
LIBRARIES = (
    "libtorch_cuda.so",
    "libtorch_cuda_linalg.so",
    "libc10_cuda.so",
    "libcaffe2_nvrtc.so",
    "libtorch_python.so",
)
_OURS = re.compile(r"(?:__)?(?:cu[A-Zdsbfr]|cublas|cudnn|cufft|curand|cusolver|cusparse|nccl)")
_DECLARED = re.compile(
    r"(?:^|[;{}\)])\s*(?:(?:extern(?: \"C\")?|__attribute__\(\(\w+\)\))\s+)*"
    r"([\w\*\s]+?)\s*\b(\w+)\s*\(([^(){};]*)\)\s*(?:__attribute__\(\([^;]*\)\)\s*)?(?=;)"
)
_PARAMETER = re.compile(r"(.*[\s\*])(\w+)((?:\[\w*\])*)")
_PLAIN = frozenset({"int", "size_t", "float", "double", "char", "long"})
_HANDLE = re.compile(r"_t$|\*$|Comm_t$|CUcontext$|handle$")
_MADE = re.compile(r"[cC]reate|Init|Retain|Plan")
_SIZE = re.compile(r"lwork|size|nnz|count|version|buffer|numSplits|rank$|work", re.IGNORECASE)
_NUMBER = re.compile(r"int|int64_t|long long|unsigned( int)?")


def called(libraries: Iterable[Path]) -> set[str]:
    """Return the functions of CUDA's libraries that shared libraries call, but for the compiler's (`nvrtc…`)."""
    found = set[str]()
    for each in libraries:
        command = ["nm", "-D", "--undefined-only", str(each)]
        listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found |= {line.split()[-1].partition("@")[0] for line in listed.splitlines()}
    return {name for name in found if _OURS.match(name)}


def defined(source: str) -> set[str]:
    """Return the functions that a C++ file defines."""
    return set(re.findall(r"^(?:\w+[\s\*]+)+(\w+)\((?=[^;]*\{)", source, re.MULTILINE))


def write(names: Collection[str], includes: Collection[Path]) -> tuple[str, str]:
    """Return a C++ file that defines what the headers declare, and a C file that defines the rest without arguments."""
    source = "".join(f"#include <{each}>\n" for each in HEADERS)
    words = ["g++", "-E", "-P", "-xc++", *(f"-I{each}" for each in includes), "-"]
    read = subprocess.run(words, input=source, check=True, capture_output=True, text=True).stdout
    declared: dict[str, tuple[str, str]] = {}
    for returned, name, given in _DECLARED.findall(re.sub(r"\s+", " ", read)):
        declared.setdefault(name, (returned.strip(), given))
    known = [define(name, *declared[name]) for name in sorted(names) if name in declared]
    others = [f"long {name}() {{ return 0; }}" for name in sorted(names) if name not in declared]
    return "\n".join(known), "\n".join(others)


def define(name: str, returned: str, given: str) -> str:
    """Return the definition of a function with its result and its parameters as they are declared."""
    parameters, body = [], []
    for number, text in enumerate(given.split(",") if given.strip() not in ("", "void") else ()):
        plain = re.sub(r"=.*", "", text).strip()
        found = _PARAMETER.fullmatch(plain)
        is_named = found is not None and found[2] not in _PLAIN
        kind, own, sizes = (found[1].strip(), found[2], found[3]) if found and is_named else (plain, f"a{number}", "")
        parameters.append(f"{kind} {own}{sizes}")
        if kind.endswith("*") and not sizes and (written := _written(name, kind[:-1].strip(), own)):
            body.append(f"if ({own}) *{own} = {written};")
    result = "" if returned == "void" else f"return ({returned}){'new_handle()' if returned.endswith('*') else '0'};"
    return f'extern "C" {returned} {name}({", ".join(parameters)}) {{ {" ".join([*body, result])} }}'


def _written(name: str, kind: str, parameter: str) -> str:
    """Return what a function writes to the place of a kind that it is given; "" if that stays as it is."""
    if kind.startswith("const") or "Config" in kind or "RedOp" in kind:
        return ""
    if kind == "size_t":
        return "512"
    if _NUMBER.fullmatch(kind):
        return "64" if _SIZE.search(parameter) else ""
    is_made = _MADE.search(name) or kind.endswith(("Handle_t", "Descriptor_t", "Descr_t"))
    return f"new_handle<{kind}>()" if is_made and _HANDLE.search(kind) else ""
