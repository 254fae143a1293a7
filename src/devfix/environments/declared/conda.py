"""environment.yml: its pip part, Python, and the conda packages that the package index has under a known name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from devfix.environments.declared.requirement import DeclaredRequirement
from devfix.environments.declared.requirement_files import RequirementLines, read_requirement_texts
from devfix.environments.declared.texts import read_text
from devfix.errors import UserError

_MATCH = re.compile(r"(?:[\w./-]+::)?([A-Za-z0-9_][\w.-]*)\s*(?:\[[^\]]*\])?\s*(.*)")
# Other conda packages are left out: the index may have something unrelated under their names.
_ON_THE_INDEX = {
    **{
        name: name
        for name in (
            *("numpy", "scipy", "pandas", "matplotlib", "scikit-learn", "scikit-image", "pillow", "pyyaml", "tqdm"),
            *("h5py", "requests", "seaborn", "networkx", "pytest", "tensorboard", "torchvision", "torchaudio"),
            *("einops", "transformers", "datasets", "tokenizers", "jupyter", "ipykernel", "numba", "lightning"),
            *("pytorch-lightning", "torchmetrics", "wandb", "omegaconf", "hydra-core", "click", "rich", "imageio"),
            *("packaging", "setuptools", "sympy", "joblib", "psutil", "timm", "accelerate", "gymnasium"),
        )
    },
    "pytorch": "torch",
    "pytorch-cpu": "torch",
    "pytorch-gpu": "torch",
    "opencv": "opencv-python-headless",
    "py-opencv": "opencv-python-headless",
}
_WITHOUT_MEANING = ("pip", "python", "cudatoolkit", "pytorch-cuda", "pytorch-mutex", "cpuonly", "cuda-toolkit")


@dataclass
class CondaEnvironment:
    """The requirements of an environment.yml; `python` is a specifier such as "==3.10.*", or ""."""

    requirements: list[DeclaredRequirement] = field(default_factory=list)
    lines: RequirementLines = field(default_factory=RequirementLines)
    python: str = ""
    notes: list[str] = field(default_factory=list)


def read_conda(folder: Path, name: str) -> CondaEnvironment:
    """Return what an environment file asks for. Raises UserError if it is not YAML."""
    text = read_text(folder / name)
    found, left_out = CondaEnvironment(), []
    for each in _dependencies(folder / name, text):
        if isinstance(each, dict):
            pip = [str(line) for line in each.get("pip") or () if isinstance(line, str)]
            numbered = [(_line_of(text, line), line) for line in pip]
            found.lines = read_requirement_texts(folder, name, numbered)
            continue
        match = _MATCH.fullmatch(str(each).strip())
        if match is None:
            continue
        package, version = canonicalize_name(match[1]), match[2]
        if package == "python":
            found.python = _specifier(version)
        elif package in _ON_THE_INDEX:
            requirement = f"{_ON_THE_INDEX[package]}{_specifier(version)}"
            found.requirements.append(DeclaredRequirement(requirement, name, _line_of(text, str(each))))
        elif package not in _WITHOUT_MEANING:
            left_out.append(match[1])
    if left_out:
        more = f" and {len(left_out) - 5} more" if len(left_out) > 5 else ""
        found.notes.append(f"{name}: packages of conda alone are left out: {', '.join(left_out[:5])}{more}")
    return found


def _dependencies(path: Path, text: str) -> list[Any]:
    import yaml

    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        first = str(error).splitlines()[0]
        raise UserError(f"{path}: not valid YAML ({first}); nothing that it declares can be installed") from error
    listed = data.get("dependencies") if isinstance(data, dict) else None
    return listed if isinstance(listed, list) else []


def _specifier(version: str) -> str:
    """Return the specifier of the package index for a version of conda.

    >>> _specifier("=1.21"), _specifier("=1.21=py39_0"), _specifier(">=3.9,<4"), _specifier("==2.0"), _specifier(" 3.9")
    ('==1.21.*', '==1.21.*', '>=3.9,<4', '==2.0', '==3.9.*')
    """
    text = re.sub(r"\s+", " ", version.strip())
    if not text or "|" in text:
        return ""
    if text[0] in "<>!~" or text.startswith("=="):
        kept = [part.strip() for part in text.split(",")]
        return ",".join(re.sub(r"(?<=\d)=[\w*]+$", "", part.replace(" ", "")) for part in kept)
    number = re.match(r"=?\s*(\d+(?:\.\d+)*)", text)
    return f"=={number[1]}.*" if number else ""


def _line_of(text: str, line: str) -> int:
    found = (number for number, each in enumerate(text.splitlines(), 1) if line.strip() in each)
    return next(found, 0)
