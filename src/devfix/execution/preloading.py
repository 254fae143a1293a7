"""Branches of a warm process that have imported what a program imports of packages that do not use torch.

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

_CODE = """\
import importlib
import json

preload = importlib.import_module("devfix probe.prefork.preload").preload
preload(json.loads(modules), json.loads(excluded), folder)
"""


def preload_branch(warm: PreforkServer, imported: Sequence[str], folder: Path) -> PreforkServer:
    """Return a branch that has imported these modules in `folder`, where the program runs, or `warm` if few are new."""
    known = warm.modules()
    new = [name for name in imported if name not in known]
    if not known or (_COMPILER not in new and len(new) < _LEAST):
        return warm
    given = {"modules": json.dumps(new), "excluded": json.dumps(_EXCLUDED), "folder": str(folder)}
    return warm.branch(_CODE, given)
