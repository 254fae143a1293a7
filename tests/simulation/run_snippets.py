"""Run every snippet in a world of two simulated GPUs, and print what became of each as a line of JSON.

An argument names another kind of device ("mps"), whose snippets are run in a world of its own.
"""

import json
import sys
import warnings
from pathlib import Path

import torch

from devfix.probe.conformance import snippets
from devfix.probe.simulation import world

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
device = sys.argv[1] if len(sys.argv) > 1 else "cuda"
world.enter("simulated", 1 if device == "mps" else 2, device=device)
folder = Path(__file__).parent
for snippet in snippets.read(folder if device == "cuda" else folder / "accelerators"):
    if device != "cuda" and not snippet.title.startswith(f"{device}: "):
        continue
    print(json.dumps([snippet.title, snippets.run(snippet)]), flush=True)
sys.exit(0)
