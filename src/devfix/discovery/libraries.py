"""The imported names that need torch: those of installed packages, and known ones that are not installed."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from devfix.process import child_environment, run

# Packages that are not installed have no metadata; these need torch, as do names with "torch" in them.
_KNOWN = re.compile(
    r"\w*torch\w*|(pytorch_)?lightning|transformers|diffusers|accelerate|timm|peft|trl|deepspeed|fairseq2?|"
    r"sentence_transformers|kornia|fastai|monai|ignite|mmcv|mmengine|mmdet|mmseg|detectron2|ultralytics|"
    r"open_clip|clip|bitsandbytes|xformers|flash_attn|vllm|unsloth|e3nn|dgl|speechbrain|espnet2?|flair|"
    r"sb3_contrib|stable_baselines3|tianshou|pyro|captum|catalyst|poutyne|allennlp|nemo|apex|triton|whisper|"
    r"lightning_fabric|optimum|setfit|skorch|easyocr|segment_anything|sam2|mamba_ssm|litgpt|lightly|opacus|lpips|bertopic"
)
_NAMES = 500  # at most so many per query
_SECONDS = 120.0


class Libraries:
    """The packages in the interpreter of the program, queried once for all names."""

    def __init__(self, python: Path, cwd: Path, names: Callable[[], Iterable[str]]) -> None:
        """Query `python` on first use for the `names` that the repository imports from elsewhere."""
        self._python, self._cwd, self._names = python, cwd, names
        self._uses: Mapping[str, str] | None = None

    def brings_torch(self, name: str) -> bool:
        """Return whether importing a top-level name imports torch."""
        if name == "torch":
            return True
        if name in sys.stdlib_module_names or not name.isidentifier():
            return False
        use = self.uses.get(name)
        return use == "torch" or (use != "other" and _KNOWN.fullmatch(name) is not None)

    @property
    def missing(self) -> list[str]:
        """The imported names that are not installed, sorted."""
        return sorted(name for name, use in self.uses.items() if use == "missing")

    @property
    def uses(self) -> Mapping[str, str]:
        """Return for each name whether it needs torch, by the interpreter's metadata; empty if the query fails."""
        if self._uses is None:
            outside = {name for name in self._names() if name.isidentifier() and name not in sys.stdlib_module_names}
            self._uses = _query(self._python, self._cwd, sorted(outside)[:_NAMES])
        return self._uses


def _query(python: Path, cwd: Path, names: list[str]) -> Mapping[str, str]:
    if not names:
        return {}
    script = Path(__file__).with_name("installed.py")
    done = run((str(python), str(script), *names), cwd, child_environment(), _SECONDS)
    line = next((line for line in done.stdout.splitlines() if line.startswith("devfix-installed ")), "")
    try:
        uses = json.loads(line.partition(" ")[2])
    except ValueError:
        return {}
    return {name: use for name, use in uses.items() if isinstance(use, str)} if isinstance(uses, dict) else {}
