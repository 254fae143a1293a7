"""Operators that CUDA has and the CPU lacks, or has for more: products with another result type, of int4 and of int8.

They compute what the kernels in ATen/native/cuda do, and refuse what those refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from .. import hooks
from ..accelerators import devices, kinds, messages
from ..checks import mismatch
from ..operator_tables.dtypes import SCALARS
from ..operator_tables.plans import plan_of, special
from ..tensors.unwrapping import MIXED, rewrap, unwrap_all

_aten: Any = torch.ops.aten
_C_NAMES = {
    torch.int64: "long int", torch.int16: "short int", torch.int8: "signed char", torch.uint8: "unsigned char",
    torch.float32: "float", torch.float64: "double", torch.float16: "c10::Half", torch.bfloat16: "c10::BFloat16",
    torch.bool: "bool",
}  # fmt: skip
_K_TILE, _N_TILE, _LANES, _VALUES = 16, 8, 32, 8  # the last: of 4 bits, in one number of the packed weights


def _expect(condition: bool, text: str) -> None:
    if not condition:
        raise messages.check_failed(text)


def _product(name: str) -> Callable[..., Any]:
    """Return a matrix product whose result has another dtype than its operands, as in ATen/native/cuda/Blas.cpp."""
    multiply = getattr(_aten, name).default

    def compute(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        *operands, dtype = args
        one, two = operands[-2:]
        if one.dtype != two.dtype:
            names = " != ".join(str(each.dtype).removeprefix("torch.") for each in (one, two))
            raise RuntimeError(f"expected mat1 and mat2 to have the same dtype, but got: {names}")
        widened = dtype is torch.float32 and one.dtype in (torch.float16, torch.bfloat16)
        if dtype is not one.dtype and not widened:
            raise RuntimeError("out_dtype must be the same as input dtype or fp32 for fp16/bf16 inputs")
        result: torch.Tensor = multiply(*(each.to(dtype) for each in operands), **kwargs)
        return result if out is None else out.resize_(result.shape).copy_(result)

    return compute


def _places(tiles: int) -> torch.Tensor:
    """Return for each packed value, by lane, pair of tiles and place in its number, its place among the columns."""
    lane = torch.arange(_LANES)[:, None, None]
    pair = torch.arange(tiles // 2)[None, :, None]
    place = torch.tensor([0, 1, 8, 9, 16, 17, 24, 25])[None, None, :]
    return pair * 2 * _K_TILE + (lane % 4) * 2 + place


# The bits of a number from the lowest on hold the values of these places: the even ones come first.
_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)


def pack(weight: torch.Tensor, tiles: int) -> torch.Tensor:
    """Return int4 weights, two in a byte with the even column in the upper half, as the tensor cores read them."""
    _expect(weight.dim() == 2, "in.dim() == 2")
    _expect(weight.dtype is torch.uint8, "in.dtype() == at::kByte")
    _expect(weight.is_contiguous(), "in.is_contiguous()")
    _expect(tiles in (2, 4, 8), "innerKTiles == 2 || innerKTiles == 4 || innerKTiles == 8")
    rows, columns = weight.shape[0], weight.shape[1] * 2
    width = tiles * _K_TILE
    _expect(columns % width == 0, "in.size(1) * 2 % (innerKTiles * kKTileSize) == 0")
    values = torch.stack((weight >> 4, weight & 15), -1).reshape(rows, columns).to(torch.int64)
    values = torch.nn.functional.pad(values, (0, 0, 0, -rows % _N_TILE))
    by_tile = values.reshape(-1, _N_TILE, columns // width, width).permute(0, 2, 1, 3)
    rows_of_lanes = by_tile[:, :, torch.arange(_LANES) // 4]
    spread = _places(tiles).reshape(_LANES, -1).expand(*rows_of_lanes.shape[:3], -1)
    picked = rows_of_lanes.gather(-1, spread).unflatten(-1, (tiles // 2, _VALUES))[..., list(_ORDER)]
    numbers = (picked << torch.arange(0, 32, 4)).sum(-1)
    return torch.where(numbers >= 1 << 31, numbers - (1 << 32), numbers).to(torch.int32)


def unpack(packed: torch.Tensor) -> torch.Tensor:
    """Return the weights of `pack` as integers of 0 to 15, one for each row and column."""
    row_tiles, wide, _, half = packed.shape
    width = half * 2 * _K_TILE
    picked = (packed.to(torch.int64)[..., None] >> torch.arange(0, 32, 4)) & 15
    by_place = torch.empty_like(picked)
    by_place[..., list(_ORDER)] = picked
    values = torch.zeros(row_tiles, wide, _N_TILE, width, dtype=torch.int64)
    rows = (torch.arange(_LANES) // 4)[:, None].expand(-1, half * _VALUES)
    values[:, :, rows, _places(half * 2).reshape(_LANES, -1)] = by_place.flatten(-2)
    return values.permute(0, 2, 1, 3).reshape(row_tiles * _N_TILE, wide * width)


def _int4_product(input: Any, weight: Any, group: int, scales: Any) -> torch.Tensor:
    _expect(input.dtype is torch.bfloat16, "A.dtype() == at::kBFloat16")
    _expect(input.is_contiguous(), "A.is_contiguous()")
    _expect(input.dim() == 2, "A.dim() == 2")
    _expect(weight.dtype is torch.int32, "B.dtype() == at::kInt")
    _expect(weight.is_contiguous(), "B.is_contiguous()")
    _expect(weight.dim() == 4, "B.dim() == 4")
    tiles = weight.shape[3] * 2
    _expect(weight.shape[1] == input.shape[1] // (tiles * _K_TILE), "B.size(1) == k / (B_innerKTiles * kKTileSize)")
    _expect(weight.shape[2] == _LANES, "B.size(2) == kWarpSize")
    _expect(
        group in (32, 64, 128, 256), "qGroupSize == 32 || qGroupSize == 64 || qGroupSize == 128 || qGroupSize == 256"
    )
    _expect(scales.dim() == 3, "qScaleAndZeros.dim() == 3")
    values = unpack(weight)
    _expect(scales.shape[1] == values.shape[0], "qScaleAndZeros.size(1) == n")
    _expect(scales.shape[2] == 2, "qScaleAndZeros.size(2) == 2")
    scale, zero = (part.float().t().repeat_interleave(group, 1)[:, : values.shape[1]] for part in scales.unbind(-1))
    wide = ((values - 8) * scale + zero).to(torch.bfloat16)
    product: torch.Tensor = input.float() @ wide.float().t()
    return product.to(torch.bfloat16)


def _int8_product(one: Any, two: Any, *, out: Any = None) -> Any:
    """Return a product of int8 matrices, of what `_int_mm_out_cuda` in ATen/native/cuda/Blas.cpp takes."""
    for name, each in (("self", one), ("mat2", two)):
        if each.dim() != 2:
            raise RuntimeError(f"Expected {name} to be of dimension 2 but got {each.dim()}")
    if one.shape[0] <= 16:
        raise RuntimeError(f"self.size(0) needs to be greater than 16, but got {one.shape[0]}")
    _expect_eights("self", one.shape[1])
    if one.shape[1] != two.shape[0]:
        sizes = f"{one.shape[1]} and {two.shape[0]}"
        raise RuntimeError(f"self.size(1) needs to match mat2.size(0) but got {sizes}")
    _expect_eights("mat2", two.shape[1])
    if out is not None:
        _expect_result(out, (one.shape[0], two.shape[1]))
    for each in (one, two):
        if each.dtype is not torch.int8:
            raise RuntimeError(f"expected scalar type Char but found {SCALARS[each.dtype]}")
    return _aten._int_mm(one, two) if out is None else _aten._int_mm.out(one, two, out=out)


def _expect_eights(name: str, size: int) -> None:
    if size == 0 or size % 8:
        raise RuntimeError(f"{name}.size(1) needs to be greater than 0 and a multiple of 8, but got {size}")


def _expect_result(out: Any, shape: tuple[int, int]) -> None:
    if out.dtype is not torch.int32:
        raise RuntimeError(f"Expected result dtype to be of type kInt but got {_C_NAMES.get(out.dtype, out.dtype)}")
    for place, size in enumerate(shape):
        if out.dim() > place and out.shape[place] != size:
            raise RuntimeError(f"Expected result.size({place}) to be {size} but got {out.shape[place]}")


def _sum_of_numbers(source: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Return `nansum`, of complex numbers too, which `nansum_out` in ReduceOps.cpp refuses on the CPU alone."""
    if not source.is_complex():
        return _aten.nansum.default(source, dim, keepdim, dtype=dtype)
    wide = source.to(torch.complex64) if source.dtype is torch.complex32 else source
    result = _aten.sum.dim_IntList(wide.masked_fill(wide.isnan(), 0), dim, keepdim, dtype=dtype)
    return result.to(source.dtype) if dtype is None else result


_KERNELS: dict[str, Callable[..., Any]] = {}


def run(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Run a kernel on the values of tensors of a GPU; for the host, and for other kinds of device, there is none."""
    cells, keywords, gpu = unwrap_all(args, kwargs)
    if gpu == MIXED:
        return mismatch.judge(plan, func, args, kwargs, cells)
    if gpu in (None, -1):
        return plan.op(*cells, **keywords)
    devices.use()
    kernel = _KERNELS[plan.name] if kinds.now().is_cuda else plan.op
    result = rewrap(plan_of(func), kernel(*cells, **keywords), args, kwargs, gpu)
    hooks.on_created(result, func, args, kwargs)
    return result


def on_cuda(kernels: Mapping[str, Callable[..., Any]]) -> None:
    """Register kernels for CUDA by the operators' names ("aten::mm.dtype"): functions of the tensors' values."""
    _KERNELS.update(kernels)
    special(*kernels)(run)


on_cuda(
    {
        "aten::nansum": _sum_of_numbers,
        "aten::_int_mm": _int8_product,
        "aten::_convert_weight_to_int4pack": pack,
        "aten::_weight_int4pack_mm": _int4_product,
    }
)
for _name in ("mm", "bmm", "addmm", "baddbmm"):
    on_cuda({f"aten::{_name}.{form}": _product(_name) for form in ("dtype", "dtype_out")})

# What the kernels in ATen/native/cuda ask of a GPU; the simulated one is an A100, of 8.0.
_NEWER = {"_scaled_mm": ">= 9.0 or 8.9", "_scaled_mm_v2": ">= 9.0 or 8.9", "_scaled_grouped_mm": "= [9.0, 10.0]"}


@special(*_NEWER)
def refuse_older(plan: Any, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Refuse products of float8 tensors, which the simulated GPU is too old for."""
    cells, keywords, gpu = unwrap_all(args, kwargs)
    if gpu == MIXED:
        return mismatch.judge(plan, func, args, kwargs, cells)
    if gpu in (None, -1) or not kinds.now().is_cuda:
        result = plan.op(*cells, **keywords)
        return result if gpu in (None, -1) else rewrap(plan_of(func), result, args, kwargs, gpu or 0)
    text = f"torch.{plan.base.removesuffix('_v2')} is only supported on CUDA devices with compute capability"
    raise RuntimeError(f"{text} {_NEWER[plan.base]}, or ROCm MI300+")
