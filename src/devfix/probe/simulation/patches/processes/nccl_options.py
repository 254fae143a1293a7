"""Options of groups with NCCL, which a build without CUDA lacks: `torch/csrc/distributed/c10d/init.cpp`."""

from __future__ import annotations

import datetime
from typing import Any

_UNDEFINED = -(2**31)
_MINUTES = 10
_NUMBERS = (
    "blocking", "cga_cluster_size", "collnet_enable", "cta_policy", "max_ctas", "min_ctas", "nvls_ctas", "split_share",
    "traffic_class",
)  # fmt: skip


class _Config:
    """The configuration of NCCL's communicators, of which nothing is defined at first."""

    def __init__(self) -> None:
        for name in _NUMBERS:
            setattr(self, name, _UNDEFINED)
        self.net_name: str | None = None


class _Options:
    """The options of one group."""

    def __init__(self, is_high_priority_stream: bool = False) -> None:
        self.is_high_priority_stream = is_high_priority_stream
        self.config = _Config()
        self.split_from: Any = None
        self.split_color = -2
        self.global_ranks_in_group: list[int] = []
        self.group_name = ""
        self._timeout = datetime.timedelta(minutes=_MINUTES)

    @property
    def backend(self) -> str:
        """The name of the backend."""
        return "nccl"


class ProcessGroupNCCL:
    """The class that groups with NCCL would have: those of the simulated world are of Gloo."""

    Options = _Options
    NCCLConfig = _Config


for _kind, _name in ((ProcessGroupNCCL, "ProcessGroupNCCL"), (_Options, "ProcessGroupNCCL.Options"),
                     (_Config, "ProcessGroupNCCL.NCCLConfig")):  # fmt: skip
    _kind.__module__ = "torch._C._distributed_c10d" if "." in _name else "torch.distributed.distributed_c10d"
    _kind.__qualname__, _kind.__name__ = _name, _name.rpartition(".")[2]
