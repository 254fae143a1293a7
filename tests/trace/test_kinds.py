"""Messages of PyTorch, old and new, and the kind of failure that each tells."""

from __future__ import annotations

import importlib.util
import io
import re
from pathlib import Path
from typing import get_args

import pytest
import torch

from devfix.model.failure import Failure, FailureKind

_PATH = Path(__file__).parents[2] / "src" / "devfix" / "probe" / "capture" / "kinds.py"
_SPEC = importlib.util.spec_from_file_location("probe_kinds", _PATH)
assert _SPEC is not None and _SPEC.loader is not None
kinds = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(kinds)


DDP_ON = (
    "DistributedDataParallel device_ids and output_device arguments only work with single-device/multiple-device GPU"
    " modules or CPU modules, but got device_ids [0], output_device 0, and module parameters "
)
# What the legacy method `new` raises for a tensor of another type.
_REST = "layout=Strided, requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt)"
_OPTIONS = f"TensorOptions(dtype={{}}, device={{}}, {_REST})"
OPTIONS = f"expected {_OPTIONS} (got {_OPTIONS})"


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("device-mismatch", "Expected all tensors to be on the same device, but found at least two devices, cuda:0 "),
        ("device-mismatch", "Expected all tensors to be on the same device, but got index is on cpu, different from"),
        ("device-mismatch", "Expected tensor for argument #1 'input' to have the same device as tensor for argument"),
        ("device-mismatch", "Expected all tensors to be on the same device. Expected NPU tensor, please check"),
        ("device-mismatch", "backend of indices (CPU) must match backend of values (CUDA)"),
        ("device-mismatch", "device of indices (1) must match device of values (0)"),
        ("device-mismatch", "expected device cuda:0 but got device cpu"),
        ("device-mismatch", "Expected object of device type cuda but got device type cpu for argument #2 'mat2'"),
        ("device-mismatch", "boundaries and input value tensors should have same device type, but got boundaries te"),
        ("device-mismatch", "grid_sampler(): expected input and grid to be on same device, but input is on cuda:0 a"),
        ("device-mismatch", "masked_scatter: expected self and source to be on same device"),
        ("device-mismatch", "Placeholder storage has not been allocated on MPS device!"),
        ("device-mismatch", "Tensor for argument input is on cpu but expected on mps"),
        ("device-mismatch", "Passed CPU tensor to MPS op"),
        ("device-mismatch", OPTIONS.format("float", "cuda", "float", "cpu")),
        ("device-mismatch", OPTIONS.format("float", "cpu", "float", "cuda:0")),
        ("", OPTIONS.format("float", "cuda", "long int", "cuda:0")),
        ("dtype-on-device", "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't support"),
        ("dtype-on-device", "Trying to convert ComplexDouble to the MPS backend but it does not have support"),
        ("no-device", "Torch not compiled with XPU enabled"),
        ("index-device", "indices should be either on cpu or on the same device as the indexed tensor (cpu)"),
        ("index-device", "indices should be either on 'cpu' or on the same device as the indexed tensor (cuda:0)"),
        ("input-weight-type", "Input type (CPUFloat) and weight type (torch.cuda.FloatTensor) should be the same"),
        ("input-weight-type", "Input type (torch.cuda.FloatTensor) and bias type (CPUFloat) should be the same"),
        ("numpy-on-device", "can't convert cuda:0 device type tensor to numpy. Use Tensor.cpu() to copy the tensor "),
        ("deserialize", "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. "),
        ("deserialize", "Attempting to deserialize object on CUDA device 1 but torch.cuda.device_count() is 1. Plea"),
        ("generator-device", "Expected a 'cuda' device type for generator but found 'cpu'"),
        ("generator-device", "Expected a 'cpu' device type for generator but found 'cuda'"),
        ("invalid-ordinal", "CUDA error: invalid device ordinal\nCUDA kernel errors might be asynchronously reporte"),
        ("no-device", "Torch not compiled with CUDA enabled"),
        ("no-device", "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU"),
        ("no-device", "No CUDA GPUs are available"),
        ("lengths-device", "'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor"),
        ("recurrent-state", "Input and hidden tensors are not at the same device, found input tensor at cuda:0 and "),
        ("recurrent-state", "Input and parameter tensors are not at the same device, found input tensor at cuda:0 a"),
        ("pin-memory", "cannot pin 'torch.cuda.FloatTensor' only dense CPU tensors can be pinned"),
        ("data-parallel", "module must have its parameters and buffers on device cuda:0 (device_ids[0]) but found o"),
        ("data-parallel", DDP_ON + "{device(type='cpu')}."),
        ("data-parallel", "DistributedDataParallel's input module must be on the same type of devices, but input modu"),
        ("", DDP_ON + "{device(type='cuda', index=0), device(type='cuda', index=1)}."),
        ("collective", "No backend type associated with device type cpu"),
        ("collective", "Tensors must be CUDA and dense"),
        ("gradient-device", "attempting to assign a gradient with device type 'cpu' to a tensor with device type 'c"),
        ("incompatible-data", "set_data(tensor)`, but `variable` and `tensor` have incompatible tensor type."),
        ("optimizer-state", "Tensors of the same index must be on the same device and the same dtype except `step` "),
        ("fork", "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use th"),
        ("autocast-device", "User specified an unsupported autocast device_type 'cuda:0'"),
        ("constructor-device", "legacy constructor expects device type: cpu but device type: cuda was passed"),
        ("data-parallel", "Gather function not implemented for CPU tensors"),
        ("device-check", "inputs must be on cuda, not cuda:0 and cuda:0"),
        ("device-check", "Found inputs to be on [device(type='cuda', index=0)] while needed to be on a 'cuda' device"),
        ("device-check", "expected a tensor on cuda, got cuda:0"),
        ("device-check", "x must be a CUDA tensor"),
        ("device-check", "nms_impl: implementation for device cpu:0 not found."),
        ("device-check", "Expected q.is_cuda() to be true, but got false."),
        ("", "CUDA must be initialized before fork"),
        ("", "the model should be trained on more data"),
        ("meta", "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty()"),
        ("", "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"),
        ("", "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0"),
        ("", "list index out of range"),
        ("", "expected scalar type Half but found Float"),
        ("", "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 15.78 GiB"),
        ("", "No such file or directory: 'device.txt'"),
        ("", "Expected input batch_size (4) to match target batch_size (2)."),
        ("", "'NoneType' object has no attribute 'device'"),
        ("", "a leaf Variable that requires grad is being used in an in-place operation."),
        ("", "index 5 is out of bounds for dimension 0 with size 3"),
    ],
)
def test_kinds(kind: str, message: str) -> None:
    assert kinds.kind_of(message) == kind


@pytest.mark.parametrize(("given", "kind"), [(0, "deserialize"), (lambda storage, location: location(), "")])
def test_a_number_as_map_location_is_known_by_where_torch_fails(given: object, kind: str) -> None:
    file = io.BytesIO()
    torch.save(torch.ones(1), file)
    file.seek(0)
    with pytest.raises(TypeError, match="object is not callable") as raised:
        torch.load(file, map_location=given)
    assert kinds.kind_of_raised(raised.value, str(raised.value)) == kind


def test_the_engine_and_the_documents_know_every_kind() -> None:
    known = get_args(FailureKind)
    assert {kind for kind, _ in kinds._KINDS} | {"other"} == set(known)
    page = (
        (_PATH.parents[4] / "docs" / "reference" / "trace-format.md")
        .read_text()
        .partition("`kind` of a failure is one of:")[2]
    )
    assert re.findall(r"^\| `([a-z-]+)` \|", page, re.MULTILINE) == list(known)


def test_a_summary_is_cut_between_words() -> None:
    said = (
        "Expected all tensors to be on the same device, but got index is on cpu, different from other tensors on cuda:0"
    )
    failure = Failure("device-mismatch", "RuntimeError", f"{said} (when checking argument in method wrapper)\nmore")
    assert failure.summary == f"{said} (when …" and len(failure.summary) <= 120
    assert Failure("other", "RuntimeError", "").summary == ""


def test_a_constructor_of_the_host_refuses_what_a_comparison_of_two_tensors_does_not() -> None:
    message = OPTIONS.format("float", "cpu", "float", "cuda:0")
    assert kinds.kind_of_raised(TypeError(message), message) == "constructor-device"
    compared = f"ProcessGroupGloo::broadcast: invalid tensor type at index 0 ({message})"
    assert kinds.kind_of_raised(RuntimeError(compared), compared) == "device-mismatch"
