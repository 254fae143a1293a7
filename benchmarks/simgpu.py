"""What the simulated GPU costs: operators, a LLaMA's training step and generation, start-up, memory; as ratios.

`make bench` runs it and installs what it needs: torch, and transformers for the model. Each figure
comes from processes of its own and is the best of several rounds, in processor time: on a shared machine that is
the least disturbed.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable

from needed import ROOT, need

ENTRY = ROOT / "src" / "devfix" / "probe" / "entry"
BUILD = ROOT / "src" / "devfix" / "probe" / "simulation" / "native" / "build.py"
SIMULATED = ("simulated", "python")  # with the compiled hot paths, and with Python alone
LIMITS = {"operator": 8.0, "train": 1.1, "generate": 1.6, "start": 0.3, "memory": 1.1}


def best(call: Callable[[], object], rounds: int, repeat: int = 1) -> float:
    """The processor's seconds of the quickest round, divided by how often it repeats the call."""
    quickest = float("inf")
    for _ in range(rounds):
        begin = time.process_time()
        for _ in range(repeat):
            call()
        quickest = min(quickest, time.process_time() - begin)
    return quickest / repeat


def operator(kind: str) -> dict[str, float]:
    """One element-wise operator on a thousand numbers, past the dispatcher, through it, and on the host."""
    import torch

    torch.set_num_threads(1)
    if kind == "fake":
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode():
            x = torch.ones(1000, device="cpu")
            figure = best(lambda: x + x, 30, 100)
            return {"operator": figure, "dispatched": figure, "host": figure}
    x = torch.ones(1000, device="cuda" if kind in SIMULATED else "cpu")
    weight = x.clone().requires_grad_()
    host = torch.ones(1000, device="cpu")
    return {
        "operator": best(lambda: x + x, 50, 500),
        "dispatched": best(lambda: x + weight, 50, 500),
        "host": best(lambda: host + host, 50, 500),
    }


def llama(kind: str) -> dict[str, float]:
    """A LLaMA of hidden size 512, four layers, 64 tokens: training steps, generation, peak memory."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=1000, hidden_size=512, intermediate_size=1376, num_hidden_layers=4, num_attention_heads=8
    )
    device = "cuda" if kind in SIMULATED else "cpu"
    model = LlamaForCausalLM(config).to(device)
    ids = torch.randint(0, 1000, (1, 64), device=device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def step() -> None:
        optimizer.zero_grad()
        model(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()

    step()
    figures = {"train": best(step, 10)}
    model.eval()
    prompt = ids[:, :8]

    def generate() -> None:
        model.generate(prompt, max_new_tokens=64, min_new_tokens=64, do_sample=False, pad_token_id=0)

    generate()
    figures["generate"] = best(generate, 6)
    figures["memory"] = float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return figures


def start(kind: str) -> dict[str, float]:
    """From before `import torch` to the first operator."""
    begin = time.process_time()
    import torch

    torch.ones(2, device="cuda" if kind in SIMULATED else "cpu") + 1
    return {"start": time.process_time() - begin}


def measured(task: str, kind: str) -> dict[str, float]:
    """Run a task in a process of its own; a simulated one has the whole probe, provenance included."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    if kind in SIMULATED:
        order = {"world": {"kind": "simulated", "gpus": 1, "current": 0}, "traces": os.devnull}
        environment |= {"DEVFIX_PROBE": json.dumps(order), "PYTHONPATH": str(ENTRY)}
        if kind == "python":
            environment["DEVFIX_NATIVE"] = "0"
    command = [sys.executable, __file__, task, kind]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def least(task: str, kind: str, rounds: int) -> dict[str, float]:
    """The least of each figure over several processes."""
    runs = [measured(task, kind) for _ in range(rounds)]
    return {name: min(run[name] for run in runs) for name in runs[0]}


def main() -> int:
    """Print each figure beside its limit; the exit code tells whether all are kept."""
    need("torch", "transformers")
    subprocess.run([sys.executable, "-I", str(BUILD), "--wait"], check=False)  # as any earlier run would have
    costs = {kind: least("operator", kind, 3) for kind in ("plain", *SIMULATED, "fake")}
    cost = {kind: each["operator"] for kind, each in costs.items()}
    plain, simulated, python = (least("llama", kind, 2) for kind in ("plain", *SIMULATED))
    begin = {kind: least("start", kind, 5)["start"] for kind in ("plain", "simulated")}
    figures = {
        "operator": cost["fake"] / cost["simulated"],
        "train": simulated["train"] / plain["train"],
        "generate": simulated["generate"] / plain["generate"],
        "start": begin["simulated"] - begin["plain"],
        "memory": simulated["memory"] / plain["memory"],
    }
    words = {
        "operator": "an operator, FakeTensorMode to simulated: times faster, at least",
        "train": "a training step, simulated to plain: times as long, at most",
        "generate": "generate, simulated to plain: times as long, at most",
        "start": "start-up over `import torch`: seconds, at most",
        "memory": "peak memory, simulated to plain: at most",
    }
    for name, figure in figures.items():
        kept = figure >= LIMITS[name] if name == "operator" else figure <= LIMITS[name]
        print(f"{figure:6.2f}  {words[name]} {LIMITS[name]}  {'' if kept else 'MISSED'}")
    for name, words in (("operator", "an operator"), ("dispatched", "with gradients"), ("host", "on the host")):
        print(f"microseconds {words}: " + ", ".join(f"{kind} {1e6 * each[name]:.2f}" for kind, each in costs.items()))
    print(f"a step {plain['train']:.3f} s, generate {plain['generate']:.3f} s plain; in Python alone", end=" ")
    print(", ".join(f"{name} {python[name] / plain[name]:.2f}" for name in ("train", "generate", "memory")))
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps({"operator": operator, "llama": llama, "start": start}[sys.argv[1]](sys.argv[2])))
    else:
        sys.exit(main())
