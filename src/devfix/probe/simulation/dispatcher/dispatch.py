"""Run every operator of the process on the values inside simulated tensors, after CUDA's device check.

One TorchDispatchMode, pushed in each thread, sees all operators of all tensors. Tensors on one device are handled in
`dispatch`; mixed devices go to `mismatch.judge`, which raises what CUDA raises or lets the operator pass.
"""

from __future__ import annotations

import threading
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .. import hooks
from ..accelerators import kinds, messages
from ..checks import cuda_refusals as _refused  # noqa: F401 - registers what CUDA's kernels refuse
from ..checks import device_asserts, mismatch
from ..checks import mps_refusals as _refusing  # noqa: F401 - registers what MPS's kernels refuse
from ..kernels import cuda_only as _only  # noqa: F401 - registers how operators run
from ..kernels import cudnn_operators as _by_cudnn  # noqa: F401 - likewise
from ..kernels import factorizations as _factoring  # noqa: F401 - likewise
from ..kernels import fused_attention as _attending  # noqa: F401 - likewise
from ..kernels import half_to_float, integer_division, mixed_statistics, own_kernels, widening
from ..kernels import host_only as _host_only  # noqa: F401 - likewise
from ..kernels import layouts as _laying_out  # noqa: F401 - likewise
from ..kernels import lists as _listing  # noqa: F401 - likewise
from ..kernels import missing_operators as _missing  # noqa: F401 - likewise
from ..kernels import outputs as _outputs  # noqa: F401 - likewise
from ..kernels import special_ops as _running  # noqa: F401 - likewise
from ..kernels import synchronized_norms as _synchronizing  # noqa: F401 - likewise
from ..native import loading as native
from ..operator_tables import dtypes, numbers
from ..operator_tables.plans import LIST, TENSOR, _plans, plan_of
from ..tensors.tensor import Tensor, count_write, reshape_shell, wrap, wrap_new
from ..tensors.unwrapping import rewrap, tensors_of, unwrap_keywords, unwrap_list

Parameter = torch.nn.Parameter
_known = _plans.get
_shorter = hooks.fast_on_created.get
_disabled = torch._C._disabled_torch_dispatch_impl
_mode_of = torch._C._get_dispatch_mode
_KINDS = tuple(torch._C._TorchDispatchModeKey.__members__.values())


class _Latest(threading.local):
    text = ""


latest = _Latest()
"""The text of the operator's error that a thread raised last, which TorchScript loses."""


class World(TorchDispatchMode):
    """The mode itself; its method is set below, so that PyTorch does not wrap it for Dynamo."""

    supports_higher_order_operators = True

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Tell Dynamo to compile nothing under this mode."""
        return True


def dispatch(self: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
    """Run one operator; this is the hot path."""
    for kind in types:
        if kind is not Tensor and kind is not Parameter and kind.__torch_dispatch__ is not _disabled:
            return _foreign(func, args, kwargs)
    try:
        plan = _known(id(func)) or plan_of(func)
        if plan.special is not None:
            return plan.special(plan, func, args, kwargs or {})
        cells = []
        gpu = None
        for kind, argument in zip(plan.kinds, args):  # noqa: B905 - defaults are left out of args
            if kind == TENSOR:
                which = type(argument)
                if which is Tensor or which is Parameter or isinstance(argument, Tensor):
                    here = argument._devfix_gpu
                    cells.append(argument if here < 0 else argument._devfix_held)
                    if here != gpu:
                        gpu = here if gpu is None else -2
                    continue
            elif kind == LIST and argument is not None:
                argument, gpu = unwrap_list(argument, gpu)
            cells.append(argument)
        keywords = kwargs
        if kwargs:
            keywords, gpu = unwrap_keywords(kwargs, gpu)
        if gpu == -2:
            return mismatch.judge(plan, func, args, kwargs or {}, cells)
        if plan.refused is not None and gpu is not None and gpu >= 0:
            dtypes.refuse(plan.refused, cells, keywords or {}, plan)
        try:
            result = plan.op(*cells, **keywords) if keywords else plan.op(*cells)
        except (NotImplementedError, RuntimeError) as error:
            return otherwise(error, plan, func, args, kwargs, cells, gpu)
        return finish(plan, result, func, args, kwargs, gpu)
    except Exception as error:
        return recover(error, func, args, kwargs)


def finish(plan: Any, result: Any, func: Any, args: Any, kwargs: Any, gpu: int | None) -> Any:
    """Return what an operator has returned as the program gets it, and record its creation."""
    if gpu is None or gpu < 0:
        hooks.on_created(result, func, args, kwargs)
        return result
    if plan.fresh or plan.view:
        result = wrap_new(result, gpu) if plan.fresh else wrap(result, gpu)
        source = args[plan.source] if plan.source >= 0 else None
        shorter = _shorter(hooks.on_created)
        if shorter is not None and type(source) is Tensor:
            shorter(result, func, source)
            return result
    elif plan.returned >= 0:
        result = args[plan.returned]
        if plan.reshapes:
            reshape_shell(result)
        if result._devfix_whole is not None:
            count_write(result._devfix_whole)
    else:
        result = rewrap(plan, result, args, kwargs, gpu)
    hooks.on_created(result, func, args, kwargs)
    return result


def otherwise(error: Exception, plan: Any, func: Any, args: Any, kwargs: Any, cells: Any, gpu: int | None) -> Any:
    """Run an operator that has failed on its values as the device would run it; raise the error if it would not."""
    keywords = unwrap_keywords(kwargs, gpu)[0] if kwargs else {}
    on_gpu = gpu is not None and gpu >= 0
    if on_gpu and own_kernels.here(plan, error):
        return own_kernels.run(func, args, kwargs)
    if on_gpu and integer_division.helps(error):
        result = integer_division.run(plan, cells, keywords)
    elif on_gpu and kinds.now().is_cuda and half_to_float.helps(plan, cells):
        result = half_to_float.run(plan, cells, keywords)
    elif on_gpu and kinds.now().is_cuda and mixed_statistics.helps(plan, cells, keywords):
        result = mixed_statistics.run(plan, cells, keywords)
    elif numbers.among(plan, cells) and numbers.is_refused(error):
        result = plan.op(*numbers.as_tensors(plan, cells), **keywords)
    else:
        result = widening.try_run(plan, cells, keywords) if on_gpu and widening.helps(error, plan) else None
        if result is None:
            try:
                raise error
            finally:
                del error  # see `recover`
    return finish(plan, result, func, args, kwargs, gpu)


def recover(error: Exception, func: Any, args: Any, kwargs: Any) -> Any:
    """Return what an operator that has failed returns nevertheless, as in a lifted run; otherwise report and raise."""
    result = hooks.again(error, func, args, kwargs or {})
    if result is not hooks.FAILED:
        return result
    try:
        raise translate_error(error, func, args, kwargs)
    finally:
        del error  # its traceback leads to this frame: a cycle would keep the operator's tensors alive


def _foreign(func: Any, args: Any, kwargs: Any) -> Any:
    """Leave an operator to the class of its tensors, or to a mode of fake tensors or traces below this one.

    If a mode declines, PyTorch only tries the classes and not the mode below, on which fake tensors rely.
    """
    if any(_mode_of(kind) is not None for kind in _KINDS):
        return func(*args, **(kwargs or {}))
    return NotImplemented


chosen: Any = dispatch  # what runs in the mode: this module's function, or the compiled one
World.__torch_dispatch__ = chosen  # type: ignore[method-assign]


def install() -> None:
    """Run operators by the compiled dispatch if there is one; it leaves what is rare to this module."""
    global chosen
    made = native.extension()
    if made is not None:
        native.configure(
            hooks=vars(hooks), reference=dispatch, plan_of=plan_of, otherwise=otherwise, finish=finish,
            recover=recover, Refusal=dtypes.Refusal,
        )  # fmt: skip
        chosen = made.method
    World.__torch_dispatch__ = chosen  # type: ignore[method-assign]


def translate_error(error: Exception, func: Any, args: Any, kwargs: Any) -> Exception:
    """Report a failure, with the device's name as the user knows it."""
    error = _in_words(error, func, args, kwargs)
    latest.text = str(error)
    hooks.failed(error, func, args, kwargs or {})
    return error


def _in_words(error: Exception, func: Any, args: Any, kwargs: Any) -> Exception:
    messages.translate(error)
    text = error.args[0] if error.args and isinstance(error.args[0], str) else ""
    if isinstance(error, NotImplementedError) and _is_on_gpu(args, kwargs or {}):
        text = text.replace("arguments from the 'CPU' backend", f"arguments from the '{kinds.now().key}' backend")
        error.args = (text, *error.args[1:])
    if text.startswith(messages.SAME_DEVICE):  # what comes before dtypes
        return error
    if isinstance(error, (RuntimeError, IndexError)) and _is_on_gpu(args, kwargs or {}):
        error = dtypes.of_failed(_base(func), args, kwargs or {}) or error
    if isinstance(error, RuntimeError) and _is_on_gpu(args, kwargs or {}):
        text = error.args[0] if error.args and isinstance(error.args[0], str) else ""
        dtype = next((each.dtype for each in tensors_of(args, {})), None)
        told = dtypes.cuda_message(text, _base(func), dtype)
        if told != text:
            if "not implemented for '" in told and not isinstance(error, dtypes.DTYPE_ERROR):
                error = dtypes.DTYPE_ERROR()
            error.args = (told,)
    if isinstance(error, IndexError) and kinds.now().is_cuda and _is_on_gpu(args, kwargs or {}):
        error = device_asserts.of_values(error, _base(func))
    if "can't allocate memory" in text and _is_on_gpu(args, kwargs or {}):
        error = messages.out_of_memory(text, _gpu_of(args, kwargs))
    return error


def _base(func: Any) -> str:
    schema = getattr(func, "_schema", None)
    return "" if schema is None else dtypes.base_of(schema.name)


def _gpu_of(args: Any, kwargs: Any) -> int:
    device = (kwargs or {}).get("device")
    given = (each._devfix_gpu for each in tensors_of(args, {}))
    return next(given, 0) if device is None else torch.device(device).index or 0


def _is_on_gpu(args: Any, kwargs: Any) -> bool:
    """Return whether an operator creates its result on a simulated GPU, or from a tensor on one."""
    device = kwargs.get("device")
    return (device is not None and torch.device(device).type != "cpu") or any(
        each._devfix_gpu >= 0 for each in tensors_of(args, {})
    )
