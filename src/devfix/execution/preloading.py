"""Branches of a warm process that have imported what a program imports from other packages, apart from torch's users.

Runs of a program are compared with one another and, at the end, with one in a fresh process, so a module that behaves
otherwise when it was imported before the program loses a repair, and never adds one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from devfix.execution.prefork import PreforkServer

_COMPILER = "torch._dynamo"
_LEAST = 10  # modules, below which a branch takes as long as it saves
# Packages whose import starts something that a fork does not have, or asks for the devices of the machine.
_EXCLUDED = [
    "cupy",
    "deepspeed",
    "grpc",
    "horovod",
    "jax",
    "jaxlib",
    "mpi4py",
    "numba",
    "pycuda",
    "pyspark",
    "ray",
    "tensorboard",
    "tensorflow",
    "triton",
    "wandb",
]

# Runs in the branch. A package is left out if it names torch: what it imports of it must be found in the world of the
# program; and if it is a plugin of pytest, which has to import it first. Where one imports such a package, prints
# something or starts a thread, there is no branch.
_CODE = """\
import builtins
import contextlib
import importlib
import importlib.util
import importlib.metadata
import io
import json
import os
import re
import sys
import threading

modules, excluded = json.loads(modules), set(json.loads(excluded))
names_torch = re.compile(rb"^\\s*(?:import|from)\\s+torch\\b|import_module\\(\\s*[\\"']torch\\b", re.MULTILINE)
compiler = "torch._dynamo" in modules
modules = [name for name in modules if name not in sys.modules and name != "torch._dynamo"]


def source_of(name):
    top, *inner = name.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None:
        return None
    if not inner:
        return spec.origin or ""  # a namespace package has no file
    paths = [os.path.join(folder, *inner) for folder in spec.submodule_search_locations or ()]
    files = [path + end for path in paths for end in (".py", os.sep + "__init__.py")]
    return next((file for file in files if os.path.exists(file)), "")


def is_excluded(name):
    try:
        file = source_of(name)
        if file is None or not file.endswith(".py"):
            return file is None
        with open(file, "rb") as source:
            return bool(names_torch.search(source.read()))
    except (ImportError, AttributeError, ValueError, OSError):
        return True


class Excluded(BaseException):
    pass


def guarded(name, globals=None, locals=None, fromlist=(), level=0):
    if level == 0 and name.partition(".")[0] in excluded:
        raise Excluded(name)
    return plain(name, globals, locals, fromlist, level)


if compiler and "torch" in sys.modules:
    importlib.import_module("torch._dynamo")
excluded |= {name.partition(".")[0] for name in modules if is_excluded(name)}
excluded |= {"torch", *(each.value.partition(".")[0] for each in importlib.metadata.entry_points(group="pytest11"))}
plain, here, said = builtins.__import__, os.getcwd(), io.StringIO()
threads = threading.active_count()
os.chdir(folder)
builtins.__import__ = guarded
try:
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        for name in modules:
            if name.partition(".")[0] not in excluded:
                with contextlib.suppress(ImportError):
                    importlib.import_module(name)
finally:
    builtins.__import__ = plain
    os.chdir(here)
if said.getvalue():
    raise RuntimeError(f"an import prints: {said.getvalue()[-500:]}")
if threading.active_count() > threads:
    raise RuntimeError("an import starts a thread")
"""


def preloaded(warm: PreforkServer, imported: Sequence[str], folder: Path) -> PreforkServer:
    """Return a branch that has imported these modules in `folder`, where the program runs, or `warm` if few are new."""
    known = warm.modules()
    new = [name for name in imported if name not in known]
    if not known or (_COMPILER not in new and len(new) < _LEAST):
        return warm
    given = {"modules": json.dumps(new), "excluded": json.dumps(_EXCLUDED), "folder": str(folder)}
    return warm.branch(_CODE, given)
