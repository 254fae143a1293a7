"""The kinds of accelerator that a repository claims to support, by what its code asks PyTorch for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from devfix.model import DeviceType

# What only code that supports the kind says. Its name in a string stands in tables and lists too.
_SIGNS = {
    DeviceType.MPS: ("torch.backends.mps", "torch.mps."),
    DeviceType.XPU: ("torch.xpu.",),
}
_CODE = (".py", ".ipynb")


def claimed_devices(containing: Callable[[Sequence[str]], Sequence[str]]) -> tuple[DeviceType, ...]:
    """Return the kinds besides CUDA that the code of a repository asks for; `containing` finds its files with a text.

    >>> [each.value for each in claimed_devices(lambda texts: ["pick.py"] if "torch.xpu." in texts else ["README.md"])]
    ['xpu']
    """
    return tuple(device for device, texts in _SIGNS.items() if any(path.endswith(_CODE) for path in containing(texts)))
