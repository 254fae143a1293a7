"""Obstacles: modules that are not found, and code that must be compiled for a GPU."""

from __future__ import annotations

import re

from devfix.dependencies import distribution_for, usual_name
from devfix.model import Lack, Obstacle
from devfix.obstacles.exceptions import Ending
from devfix.obstacles.surroundings import Surroundings, advice_on_compiled, pip, short, where

_MODULE = re.compile(r"No module named '?([\w.]+)'?")
# Of an installed package, as the path in brackets says.
_NAME = re.compile(r"cannot import name '(\w+)' from '([\w.]+)' \([^)]*\b(?:site|dist)-packages\b")
_ASKED_FOR = re.compile(r"(?:pip|conda) install (?:-U |--upgrade )?[`'\"]?([A-Za-z0-9][\w.-]*)")
_TRITON = re.compile(
    r"\bactive drivers\b|TritonMissing|working triton|accessed from Triton|"
    r"[Tt]riton.{0,40}(not (installed|available|found)|is required|requires)"
)
_COMPILER = re.compile(
    r"CUDA_HOME|[Nn]inja is required|[Ee]rror (building|compiling) (extension|objects)|\bnvcc\b|CUDAExtension|"
    r"No such file or directory: '(\S*/)?(c\+\+|g\+\+|gcc|cc|clang\+*|ninja)'|is not a supported C\+\+ compiler"
)
_KERNEL = re.compile(
    r"_OpNamespace.{0,60}has no attribute|Could not run '(?!aten::)\w+::|no kernel image|undefined symbol|"
    r"cannot open shared object file|No such operator|kernels? (is|are|was|were) not (compiled|built|available)"
)
_FOR_GPUS = frozenset(
    {"flash_attn", "apex", "mamba_ssm", "causal_conv1d", "transformer_engine", "cupy", "pycuda", "tensorrt",
     "torch_tensorrt", "spconv", "MinkowskiEngine", "amp_C", "fused_layer_norm_cuda"}
)  # fmt: skip
_SITE = re.compile(r"/(?:site|dist)-packages/([\w-]+)")
_SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".pyx")


def package(ending: Ending, around: Surroundings) -> Obstacle | None:
    """Return the obstacle of a failed import, None for any other exception."""
    if ending.message.startswith("Numpy is not available"):  # torch's message if it was built with NumPy
        return _missing_package("numpy", ending, around, does="needs")
    if not re.search(r"(ImportError|ModuleNotFoundError|PackageNotFoundError)$", ending.exception):
        return None
    if match := _MODULE.search(ending.message):
        return _missing_module(match[1], ending, around)
    if (match := _NAME.search(ending.message)) and _local(match[2].partition(".")[0], around) is None:
        return _other_version(match[2], f"imports {match[1]} from {match[2]}", ending, around)
    match = _ASKED_FOR.search(ending.message)
    if match is None or _KERNEL.search(ending.message):
        return None
    return _missing_package(match[1].replace("-", "_"), ending, around, match[1])


def _missing_module(module: str, ending: Ending, around: Surroundings) -> Obstacle:
    top = module.partition(".")[0]
    if top == "triton":
        return _no_triton(f"{where(ending)} imports triton, which is not installed in {around.python}")
    local = _local(top, around)
    if local is None:  # Python names a module inside of a package only where the package was found
        if module != top:
            return _other_version(module, f"imports {module}", ending, around)
        return _missing_package(top, ending, around)
    if any(path.endswith(_SOURCES) for path in around.tracked) and module != top:
        message = f"{where(ending)} imports {module}, a compiled extension of this repository that is not built"
        return Obstacle(Lack.COMPILER, message, advice_on_compiled("build it in the program's environment"))
    message = f"{where(ending)} imports {module}; the repository has {local}, but {module} is not found there"
    if module == top:
        message = f"{where(ending)} imports {module}, which is {local} in this repository, but not on the import path"
    run = f"install the project ({pip(around, '-e .')}), or run it where {top} can be imported (--run and --python)"
    return Obstacle(Lack.MODULE, message, run)


def _other_version(module: str, does: str, ending: Ending, around: Surroundings) -> Obstacle:
    """Return the obstacle of an installed package that lacks what is imported of it."""
    top = module.partition(".")[0]
    place = distribution_for(top, around.declared())
    name = place.name if place else usual_name(top)
    whose = f"{name} is declared in {place.path}:{place.line}" if place else f"the repository does not declare {name}"
    message = f"{where(ending)} {does}, which the {top} installed in {around.python} does not have; {whose}"
    install = f"install a version of {name} that has it with {pip(around, f'{name}==VERSION')}"
    return Obstacle(Lack.PACKAGE, message, f"{install}, or choose another interpreter with --python")


def _missing_package(
    top: str, ending: Ending, around: Surroundings, named: str = "", does: str = "imports"
) -> Obstacle:
    place = distribution_for(top, around.declared())
    name = place.name if place else named or usual_name(top)
    importer = _SITE.search(ending.frames[-1][0]) if ending.frames else None
    who = f"{where(ending)} {does} {top}"
    if importer and importer[1] != top:
        who = f"the package {importer[1]} (used at {where(ending)}) imports {top}"
    whose = f"it is part of {name}, declared in {place.path}:{place.line}" if place else ""
    whose = whose or f"the repository does not declare it (it is usually part of {name})"
    message = f"{who}, which is not installed in {around.python}; {whose}"
    if top in _FOR_GPUS:
        message = f"{message}; its kernels are compiled for GPUs"
        return Obstacle(Lack.KERNEL, message, advice_on_compiled(f"install it with {pip(around, name)}"))
    return Obstacle(
        Lack.PACKAGE, message, f"install it with {pip(around, name)}, or choose another interpreter with --python"
    )


def triton(ending: Ending, around: Surroundings) -> Obstacle | None:
    """Return the obstacle of a Triton kernel that cannot run."""
    inside = any("/site-packages/triton/" in path for path, _ in ending.frames[-3:])
    if not inside and not _TRITON.search(f"{ending.exception}: {ending.message}"):
        return None
    return _no_triton(f"{where(ending)} runs a Triton kernel ({short(ending)})")


def _no_triton(message: str) -> Obstacle:
    return Obstacle(Lack.TRITON, message, advice_on_compiled("install triton there"))


def compiler(ending: Ending, around: Surroundings) -> Obstacle | None:
    """Return the obstacle of an extension that the program compiles."""
    inside = any(path.endswith("torch/utils/cpp_extension.py") for path, _ in ending.frames)
    if not inside and not _COMPILER.search(ending.message):
        return None
    message = f"{where(ending)} compiles an extension with torch.utils.cpp_extension, which fails here"
    return Obstacle(Lack.COMPILER, f"{message} ({short(ending)})", advice_on_compiled("install what the message names"))


def kernel(ending: Ending, around: Surroundings) -> Obstacle | None:
    """Return the obstacle of a compiled kernel that is missing, or was built for another torch."""
    if not _KERNEL.search(ending.message):
        return None
    message = f"{where(ending)} needs a compiled kernel that is not available ({short(ending)})"
    return Obstacle(Lack.KERNEL, message, advice_on_compiled("build or install it for this torch"))


def _local(top: str, around: Surroundings) -> str | None:
    """Return the file or folder of the repository that has a top-level name."""
    for path in sorted(around.tracked, key=lambda path: (path.count("/"), path)):
        parts = path.split("/")
        if parts[-1] == f"{top}.py":
            return path
        if top in parts[:-1] and path.endswith(".py"):
            return "/".join(parts[: parts.index(top) + 1]) + "/"
    return None
