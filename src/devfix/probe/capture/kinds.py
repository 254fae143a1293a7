"""Classify device failures by the exception's message (docs/reference/trace-format.md has the list)."""

from __future__ import annotations

import re

# Those of tensors on two devices that one operator was given.
MIXED = frozenset({"device-mismatch", "index-device", "input-weight-type", "recurrent-state", "lengths-device"})
_KINDS = [
    ("pin-memory", r"cannot pin '|only dense CPU tensors can be pinned|[Nn]eed to provide pin_memory allocator"),
    ("index-device", r"indices should be either on |either on cpu or on the same device as the indexed tensor"),
    (
        "input-weight-type",
        r"Input type \(.*\) and (weight|bias) type \(.*\) should be the same|"
        r"Input type .* and weight type .* should be the same",
    ),
    ("numpy-on-device", r"can't convert .* device type tensor to numpy|can't convert CUDA tensor to numpy"),
    ("deserialize", r"Attempting to deserialize object on (a )?\w+ device"),
    (
        "generator-device",
        r"Expected a '?\w+'? (device type|generator device)|"
        r"Expected a .* device type for generator but found",
    ),
    ("lengths-device", r"'lengths' argument should be a 1D CPU int64 tensor|lengths.* should be .*CPU"),
    (
        "recurrent-state",
        r"Input and (hidden|parameter|cell) tensors are not at the same device|"
        r"weight.* and input.* are not (on|at) the same device",
    ),
    (
        "data-parallel",
        r"module must have its parameters and buffers on device|"
        r"device_ids and output_device arguments only work with .*and module parameters \{.*cpu|"
        r"input module must be on the same type of devices|Gather function not implemented for CPU tensors",
    ),
    (
        "collective",
        r"No backend type associated with device type|Tensors must be CUDA and dense|"
        r"Tensor[s]? (list )?.*must be CUDA|expects? .*CUDA tensors? (for|in) .*NCCL",
    ),
    (
        "gradient-device",
        r"[Aa]ssign(ed)? (a )?grad(ient)? .*(device|type)|"
        r"gradient with device type .* to a tensor with device type|assigned grad has data of a different type",
    ),
    ("incompatible-data", r"incompatible tensor type|set_data.*(type|device)"),
    ("optimizer-state", r"Tensors of the same index must be on the same device"),
    ("fork", r"Cannot re-initialize (CUDA|XPU) in forked subprocess"),
    (
        "dtype-on-device",
        r"Cannot convert a (MPS Tensor to float64|float64 Tensor to MPS)|to the MPS backend but it does not have",
    ),
    ("autocast-device", r"User specified an unsupported autocast device_type|Expected `device_type` of type `str`"),
    ("constructor-device", r"legacy constructor expects device type"),
    ("meta", r"Cannot copy out of meta tensor|on (a )?meta (device|tensor)|meta tensors? "),
    (
        "invalid-ordinal",
        r"invalid device ordinal|Invalid device id|device (index|id|ordinal)\b.*(out of range|must be)|"
        r"out of range.*device|The device_index is invalid|Device index value \d+ is out of|Invalid device argument ",
    ),
    (
        "no-device",
        r"Torch not compiled with (CUDA|XPU) enabled|PyTorch is not linked with support for|"
        r"not compiled with MPS enabled|Found no NVIDIA driver|No CUDA GPUs are available|"
        r"The MPS backend is supported on [Mm]acOS|No XPU devices are available|"
        r"not linked with support for cuda|Cannot access accelerator device|CUDA driver version is insufficient|"
        r"no CUDA-capable device|module 'torch\._C' has no attribute '_cuda_|Tried to instantiate dummy base class",
    ),
    (
        "device-mismatch",
        r"[Ee]xpected all tensors to be on the same device|(be|are) (all )?on the same (device|GPU)|"
        r"different from other tensors on|have (the )?same device|expected device \w+|"
        r"on (the )?same device|on different devices|is on \S+, but expected|but got \w+ is on|"
        r"same device as|different devices?\b|devices? (do(es)?n't|do(es)? not|must|should) (match|agree|be the same)|"
        r"\b(device mismatch|mismatch(ed|ing)? devices?)\b|"
        r"(Expected|expected) object of (device|backend) type|but found at least two devices|"
        r"(backend|device) of indices \(.*\) must match|"
        r"but expected on mps|Placeholder storage has not been allocated on MPS|Passed CPU tensor to MPS op|"
        r"expected TensorOptions\(.*device=(?P<wanted>\w+)\b.*got TensorOptions\(.*device=(?!(?P=wanted)\b)",
    ),
    (
        "device-check",  # of a library's own, before a kernel that needs a GPU
        r"(?i:\b(must|should|needs?|needed|has|have|expect(s|ed)?|required?)( to)?( all)? be (a |an |on |in )+(the )?"
        r"['\"]?(cuda|gpu)\b|"
        r"\bexpect(s|ed)? (a |all )?\w*(tensor|input)s? (to be )?(on|in) (a |the )?['\"]?(cuda|gpu)\b|"
        r"\b(cuda|gpu) (tensors?|inputs?) (is|are) (required|expected|supported)|"
        r"\bonly (supports?|works (on|with|for)|available (on|for)) (cuda|gpu)\b|\.is_cuda\b.*(true|false)|"
        r"\bimplementation for device (cpu|cuda|mps|xpu)\b.*\bnot found\b)",
    ),
]
# The text between two parts of a message is short; unbounded, a message of 20,000 characters could take half a minute.
_COMPILED = [(kind, re.compile(pattern.replace(".*", ".{0,120}"), re.DOTALL)) for kind, pattern in _KINDS]
_OF_HOST = re.compile(r"expected TensorOptions\([^)]*\bdevice=cpu\b")
# Libraries that check arguments themselves have their own messages, which name the devices.
_DEVICE = re.compile(r"\b(cpu|(?:cuda|mps|xpu):\d{1,3})\b")


def kind_of(message: str) -> str:
    """Return the kind of a device failure, or "" if the message is about something else."""
    message = message[:20_000]
    known = next((kind for kind, pattern in _COMPILED if pattern.search(message)), "")
    return known or ("device-mismatch" if _names_two_devices(message) else "")


def kind_of_raised(exception: BaseException, message: str) -> str:
    """Return the kind of a device failure by its message, or by the place where an exception was raised.

    torch calls a `map_location` that is neither a device nor a dictionary; of a number, Python says that it cannot be
    called, and nothing of devices. A constructor such as `torch.FloatTensor` refuses a tensor of a GPU by a TypeError
    with the words of a comparison of two tensors.
    """
    kind = kind_of(message)
    if kind == "device-mismatch" and isinstance(exception, TypeError) and _OF_HOST.match(message):
        return "constructor-device"
    return kind or ("deserialize" if _is_unknown_map_location(exception) else "")


def _is_unknown_map_location(exception: BaseException) -> bool:
    trace = exception.__traceback__
    if not isinstance(exception, TypeError) or trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    frame = trace.tb_frame
    is_restored = frame.f_globals.get("__name__") == "torch.serialization" and "map_location" in frame.f_locals
    return is_restored and not callable(frame.f_locals["map_location"])


def _names_two_devices(message: str) -> bool:
    """Return whether a message is about devices and names two of them, including a GPU with its index."""
    named = set(_DEVICE.findall(message))
    return len(named) > 1 and "device" in message.lower()
