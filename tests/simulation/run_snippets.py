"""Run every snippet in a world of two simulated GPUs, and print what became of each as a line of JSON."""

import json
import sys
import warnings
from pathlib import Path

import torch

from devfix.probe.conformance import snippets
from devfix.probe.simulation import world

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
world.enter("simulated", 2)
for snippet in snippets.read(Path(__file__).parent):
    print(json.dumps([snippet.title, snippets.run(snippet)]), flush=True)
sys.exit(0)
