"""Print, as lines of JSON, where the simulation answers otherwise than a recording of PyTorch's CUDA library.

usage: run_library_rows.py RECORDING PART PARTS: the operators are shared between PARTS runs, of which this is one.
Each line has the operator, the devices, the row, what the library answered and what the simulation answers; the last
one has the number of rows that were compared.
"""

import json
import sys
import warnings
from pathlib import Path

import torch

from devfix.probe.conformance import operators, recordings
from devfix.probe.simulation import world

warnings.filterwarnings("ignore")
torch.set_num_threads(1)
told = recordings.read(Path(sys.argv[1]))
part, parts = int(sys.argv[2]), int(sys.argv[3])
world.enter("simulated", 2)
compared = 0
for place, operator in enumerate(operators.database()):
    if place % parts != part:
        continue
    name = operators.name_of(operator)
    for devices, found in told["operators"].items():
        if name not in found:
            continue
        home, away = operators.PAIRS.get(devices, ("cuda:0", ""))
        made = operators.mixtures(operator, home, away, told["samples"]) if away else operators.alone(operator, home)
        rows = dict(made)
        for row, text in found[name].items():
            compared += 1
            answer = rows.get(row, "not reached")
            # PyTorch goes on with advice, and the list of all backends.
            if answer.partition(" process (if using custom build)")[0] != text.partition(" process (if using")[0]:
                print(json.dumps([name, devices, row, text, answer]), flush=True)
print(compared)
