"""Expected output of docstring examples: compared without the device that the lift has added, or not at all.

What a release of PyTorch prints, or a comment behind it, says nothing of devices: such an example runs to its end.
"""

from __future__ import annotations

import doctest
import re
from collections.abc import Callable
from typing import Any

_DEVICE = re.compile(r",\s*device='(?:cuda|mps|xpu):\d+'")

_EXCEPTION = re.compile(r"[\w.]+(?:Error|Exception|Warning|Exit|Interrupt|StopIteration)\b")


def install(takes_any: bool) -> Callable[[], None]:
    """Have every checker of doctests leave out the device, or take any output but for an exception's message.

    Return what undoes it.
    """
    original = doctest.OutputChecker.check_output

    def check_output(self: Any, want: str, got: str, optionflags: int) -> bool:
        if original(self, want, got, optionflags) or (takes_any and not _EXCEPTION.match(want)):
            return True
        shown = _DEVICE.sub("", got)
        return shown != got and original(self, want, shown, optionflags)

    doctest.OutputChecker.check_output = check_output  # type: ignore[method-assign]

    def undo() -> None:
        doctest.OutputChecker.check_output = original  # type: ignore[method-assign]

    return undo
