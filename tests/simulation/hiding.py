"""Enter worlds with a build that has a kind of device, and a driver that finds one; a line of JSON tells what is seen.

The build and the driver answer through attributes of `torch._C`, which are set here before any world is entered: no
machine with such a device is needed for what hides it.
"""

import json
import sys
from typing import Any

import torch

from devfix.probe.simulation import world
from devfix.probe.simulation.accelerators import kinds

KIND = sys.argv[1]
C: Any = torch._C
if KIND == "mps":
    C._has_mps, C._mps_is_available = True, lambda: True
    C._accelerator_getAccelerator = lambda: torch.device("mps")
else:
    C._has_xpu, C._xpu_getDeviceCount = True, lambda: 2


def said(make: Any) -> str:
    """What becomes of a call."""
    try:
        return str(make())
    except Exception as error:
        return f"{type(error).__name__}: {error}".split("\n")[0]


def seen() -> dict[str, Any]:
    """What a program can find out of the device, and what it is told when it takes it for granted."""
    available = torch.backends.mps.is_available if KIND == "mps" else torch.xpu.is_available
    return {
        "available": available(),
        "count": getattr(torch, KIND).device_count(),
        "accelerator": torch.accelerator.is_available(),
        "accelerators": torch.accelerator.device_count(),
        "made": said(lambda: torch.ones(1, device=KIND)),
        "on the host": said(lambda: torch.ones(1, device="cpu").sum().item()),
    }


if __name__ == "__main__":
    found = {"plain": seen()}
    for name, given in {
        "cpu": ("cpu", 0),
        "simulated": ("simulated", 1),
        "real": ("real", 1, 0, KIND),
        "its own, simulated": ("simulated", 1, 0, KIND),
        "cpu again": ("cpu", 0),
    }.items():
        try:
            world.enter(*given)
        except Exception as error:  # a real xpu is set as the current device, which this build cannot do
            found[name] = {"refused": f"{type(error).__name__}: {error}".split("\n")[0]}
        else:
            found[name] = seen()
        found[name]["kind"] = kinds.now().name
    world.leave()
    found["left"] = seen()
    print(json.dumps(found))
