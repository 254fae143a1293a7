"""The rules about frameworks, with the real libraries: each is left out where its library is not installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from devfix.diagnosis.diagnose import diagnose
from devfix.diagnosis.propose import propose
from devfix.model import World
from devfix.registry import rule_at
from devfix.rule_testing.checking.runner import Bench
from devfix.rule_testing.pages.case import PROGRAM, Case
from devfix.sdk import Sources

RULES = Path(__file__).resolve().parents[2] / "rules" / "framework"
ACCELERATE = """
    import torch
    from accelerate import Accelerator
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset

    def evaluate(model, batches):
        for x, y in batches:
            loss = nn.functional.cross_entropy(model(x), y)
        return loss.item()

    def main():
        accelerator = Accelerator()
        rows = TensorDataset(torch.randn(8, 4), torch.randint(0, 2, (8,)))
        valid = DataLoader(rows, batch_size=4)
        model = accelerator.prepare(nn.Linear(4, 2))
        print(evaluate(model, valid))

    torch.manual_seed(0)
    main()
"""
LIGHTNING = """
    import lightning
    import torch
    from torch import nn
    from torch.utils.data import DataLoader

    class Batch:
        def __init__(self, rows):
            self.x = torch.stack(rows)

    class Net(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 1)

        def training_step(self, batch, number):
            return self.layer(batch.x).mean()

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), lr=0.1)

    lightning.seed_everything(0)
    quiet = dict(logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    loader = DataLoader([torch.randn(4) for _ in range(4)], batch_size=2, collate_fn=Batch)
    lightning.Trainer(max_epochs=1, **quiet).fit(Net(), loader)
"""
IGNITE = """
    import torch
    from ignite.engine import create_supervised_evaluator
    from torch import nn

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = nn.Linear(4, 2).to(device)
    evaluator = create_supervised_evaluator(model)
    evaluator.run([(torch.ones(2, 4), torch.ones(2, 2))])
    print("done")
"""
DIFFUSERS = """
    import torch
    from diffusers import DDIMScheduler, UNet2DModel

    unet = UNet2DModel(
        sample_size=8, block_out_channels=(8, 16), norm_num_groups=4, layers_per_block=1,
        down_block_types=("DownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "UpBlock2D"),
    ).to("cuda" if torch.cuda.is_available() else "cpu")
    scheduler = DDIMScheduler(num_train_timesteps=100)
    sample = torch.zeros(2, 3, 8, 8).to(unet.device)
    scheduler.set_timesteps(2)
    with torch.no_grad():
        for t in scheduler.timesteps:
            sample = scheduler.step(unet(sample, t.expand(2)).sample, t, sample).prev_sample
    print(sample.shape)
"""
CASES = {
    "accelerate": (ACCELERATE, "loader_not_prepared", "model, valid = accelerator.prepare(nn.Linear(4, 2), valid)"),
    "lightning": (LIGHTNING, "batch_class_without_to", "        self.x = self.x.to(device)\n        return self"),
    "ignite": (IGNITE, "ignite_without_device", "create_supervised_evaluator(model, device=device)"),
    "diffusers": (DIFFUSERS, "timesteps_on_host", "scheduler.set_timesteps(2, device=unet.device)"),
}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    made = Bench(Path(sys.executable), timeout=300)
    yield made
    made.close()


@pytest.mark.parametrize("library", CASES)
def test_the_real_library_is_recognised_and_its_idiom_runs_clean(library: str, bench: Bench) -> None:
    pytest.importorskip(library)
    source, name, wanted = CASES[library]
    before = {PROGRAM: dedent(source).encode()}
    world = World("simulated", 1)
    case = Case(library, 0, world, {}, before, {}, "", None, ())
    failure = bench.failure(case)
    assert failure is not None and failure.kind == "device-mismatch"
    rule = rule_at(RULES / f"{name}.py")
    sources = Sources(before.get)
    patches = list(propose(diagnose(failure, [rule], sources), {rule.id: rule}, sources))
    assert not sources.notes and patches
    after = {edit.path: edit.after for edit in patches[0].edits}
    assert wanted in after[PROGRAM].decode()
    assert bench.failure(Case(library, 0, world, {}, after, {}, "", None, ())) is None
