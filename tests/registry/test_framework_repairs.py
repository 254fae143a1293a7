"""Small programs of the kind that a new user of a framework writes, repaired whole: the patch is a maintainer's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from git_repositories import git, make_repository

PROGRAMS = Path(__file__).parents[1] / "frameworks"
# Of each program: the library it needs, options, and the lines that its repair adds, without their indent.
CASES: dict[str, tuple[str, list[str], list[str]]] = {
    "accelerate_loader": (
        "accelerate",
        [],
        [
            "model, optimizer, train_dataloader, eval_dataloader = "
            "accelerator.prepare(model, optimizer, train_dataloader, eval_dataloader)"
        ],
    ),
    "lightning_metrics": (
        "lightning",
        [],
        ["self.metrics_modules = nn.ModuleList(self.metrics.values())  # so that moves and the state dict reach them"],
    ),
    "lightning_step": (
        "lightning",
        [],
        [
            "positions = torch.arange(ids.size(1), device=self.device).unsqueeze(0)",
            "weight = torch.ones(self.tags, device=self.device)",
        ],
    ),
    "lightning_hook": (
        "lightning",
        [],
        [
            "mean = torch.tensor([0.5, 0.4, 0.3], device=self.device).view(1, 3, 1, 1)",
            "images = images + self.noise * torch.randn(images.shape).to(self.device)",
        ],
    ),
    "trainer_class_weights": (
        "transformers",
        [],
        ["loss_fct = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0])).to(self.model.device)"],
    ),
    "trainer_teacher": (
        "transformers",
        [],
        [
            'weights = torch.tensor(inputs.pop("weights"), device=self.model.device)',
            "trainer.teacher.to(trainer.model.device)",
        ],
    ),
    "ignite_evaluator": (
        "ignite",
        [],
        ["evaluator = create_supervised_evaluator(model, metrics=metrics, device=device)"],
    ),
    "diffusers_pipeline": (
        "diffusers",
        [],
        ["self.scheduler.set_timesteps(num_inference_steps, device=self.device)"],
    ),
    "data_parallel": (
        "torch",
        ["--gpus", "2"],
        ['model = nn.DataParallel(Net()).to("cuda:0" if torch.cuda.is_available() else "cpu")'],
    ),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", CASES)
def test_the_patch_is_what_a_maintainer_would_write(name: str, tmp_path: Path) -> None:
    library, options, wanted = CASES[name]
    pytest.importorskip(library)
    program = (PROGRAMS / f"{name}.py").read_text()
    root = make_repository(tmp_path / "program", {"train.py": program, ".gitignore": "__pycache__\nout\n"})
    run = [] if "--run" in options else ["--run", "python train.py"]
    command = [sys.executable, "-m", "devfix", "repair", str(root), "--world", "simulated", "--format", "json"]
    done = subprocess.run([*command, *run, *options], capture_output=True, text=True)
    data = json.loads(done.stdout)
    assert data["outcome"] == "repaired", (data["failures"], data["rejected"], done.stderr)
    changed = git(root, "diff", f"HEAD...{data['branch']}", "--", "train.py").splitlines()
    added = [line[1:].strip() for line in changed if line.startswith("+") and not line.startswith("+++")]
    assert added == wanted
