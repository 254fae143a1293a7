"""The GPUs of the world as the fixture `gpu_devices` gives them: those of the moment, for fixtures outlive worlds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import pytest


class GpuDevices(Sequence[Any]):
    """The torch.devices "cuda:0", "cuda:1" … ("mps:0") that the world has when one looks; equal to a list of these.

    A test that looks where no world was asked for, on a machine without GPUs, is skipped.
    """

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def _all(self) -> list[Any]:
        import torch

        suite = self._config.pluginmanager.get_plugin("devfix-tests")
        now = suite.world.now if suite is not None else None
        name = now.device if now is not None and now.gpus else "cuda"
        devices = [torch.device(name, index) for index in range(getattr(torch, name).device_count())]
        if not devices and now is None:
            pytest.skip("there are no GPUs: run pytest --gpus 2, or mark the test @pytest.mark.gpus(2)")
        return devices

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self._all()[index]

    def __len__(self) -> int:
        return len(self._all())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._all() == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._all())
