"""Find expressions in scope for the right device, in the style of the file."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from devfix.model import Diagnosis, ScopeVariable, is_on_gpu
from devfix.sdk.trace.history import frame_of
from devfix.sdk.trace.operands import DEVICE_KINDS, target_device
from devfix.sdk.trace.sites import FixSite
from devfix.source import File
from devfix.source.edits.device_arguments import is_moved_below, is_moved_late
from devfix.source.queries.bound_names import (
    is_bound,
    is_left_by_loop,
    is_local,
    is_of_script,
    is_taken_over,
    knows,
    root_name,
)
from devfix.source.queries.optional import is_optional, is_told_apart, may_be_left_none
from devfix.source.queries.reading import parameters
from devfix.source.queries.style import attribute_depth, is_ambiguous, is_undeclared_attribute, style_bonus

DEVICE_NAME = re.compile(r"(^|[._])(device|dev)$")
BIAS = re.compile(r"bias\w*$")
STATISTICS = re.compile(r"\.(running_mean|running_var|num_batches_tracked)$")  # None with track_running_stats=False
PRIVATE = re.compile(r"\._\w*device$")
OPTIONAL = 2.0  # penalty of what may be no tensor in other calls: optional parameters, attributes left None, …
KEY = re.compile(r"""\[(["'])(.+?)\1\]""")
PART = re.compile(r"(self\.\w+)\W.*\.device$")
GIVEN = 2.6  # penalty of a weight of a module that a caller gives: another one has other parts
UNUSED = 5.0  # penalty of a global device in a function that does not read it: a peer nearby is better
SCRIPT = 4.0  # more, if no function of the file reads it: a class or a helper knows nothing of the script around it
SIZED, SIZED_OF_TWO = 1.2, 0.3  # bonus of a tensor whose size or type is read where the device is wanted; with two GPUs
REACH = 3.0  # maximum distance from the best score


def device_expressions(diagnosis: Diagnosis, site: FixSite, file: File, limit: int = 3) -> list[str]:
    """Return the expressions for the right device at a site, best first, at most `limit`.

    A `device` variable or argument comes first, then the peer's own `.device`, that of what it was computed from,
    another tensor's, and the parameters of a module. Expressions that the file itself uses to place tensors are
    preferred. Only names bound before the site count.
    """
    node = file.root_at(site.place)
    if node is None:
        return []
    wanted, frame = target_device(diagnosis), frame_of(diagnosis.failure, site.place)
    line = diagnosis.failure.frames[frame].place.line if frame is not None else 0  # what is in scope is of that line
    given = {each.expression for each in site.scope if each.type == "Property"}
    function = file.function_of(node)
    order = parameters(function) if function is not None else []  # the first one is usually the main input
    sized = SIZED_OF_TWO if _is_between_gpus(diagnosis, wanted) else SIZED
    scored = [
        (score + _score(file, node, text, text in given, sized), _rank(order, text), len(text), text)
        for score, text in _texts(diagnosis, site, file, wanted)
        if is_bound(file, node, text) and not is_ambiguous(file, text) and not _has_key_of_run(file, node, text)
        if not any(is_moved_below(file, node, line, name) for name in (root_name(text), text.removesuffix(".device")))
    ]
    if not scored:
        return []
    best = min(scored)[0]
    # If something names the device outright, module parameters would only add candidates.
    near = sorted(each for each in scored if each[0] <= best + REACH)
    return list(dict.fromkeys(text for *_, text in near))[:limit]


def _rank(order: list[str], text: str) -> int:
    """Return the number of the parameter whose device an expression reads, a larger one for others, -1 for a name."""
    root = root_name(text)
    return -1 if not text.endswith(".device") else order.index(root) if root in order else len(order)


def _score(file: File, node: cst.CSTNode, text: str, is_property: bool, sized: float) -> float:
    """Return the penalty of an expression less its bonus; what its function does not know is in the style of others.

    A tensor whose size or type the node at the site reads is what the node's result is made for: it comes before the
    peer, except between GPUs, where it may be on the right one by chance.
    """
    penalty = _penalty(file, node, text, is_property)
    if penalty >= UNUSED:
        return penalty
    name = re.escape(text.removesuffix(".device"))
    is_sized = re.search(rf"(?<![\w.]){name}\.(shape|size|dtype)\b|\blen\({name}\)", file.code(node)) is not None
    return penalty - style_bonus(file, text, file.function_of(node)) - sized * is_sized


def _penalty(file: File, node: cst.CSTNode, text: str, is_property: bool = False) -> float:
    """Return the penalty of an expression that may not be a tensor in other calls, or is unknown to its function.

    A property of the class is available in every call. A private attribute of a class that the file does not define is
    for that class to read.
    """
    function = file.function_of(node)
    root = root_name(text)
    if function is None or is_property:
        return 0.0 if is_property or _is_known_in_lambda(file, node, root) else UNUSED
    if PRIVATE.search(text) and not re.search(rf"{re.escape(text)}\b", file.text):
        return UNUSED
    if text.endswith(".device"):
        attribute = re.match(r"self\.\w+", text)
        optional = is_optional(function, root) or is_told_apart(file, node, text.removesuffix(".device"))
        optional |= attribute is not None and may_be_left_none(file, node, attribute[0])
        optional |= is_left_by_loop(file, node, root)
        is_unread = file.binds_anywhere(root) and not is_local(function, root) and not knows(file, function, root)
        is_weak = is_undeclared_attribute(file, text, node)
        is_weak |= attribute is not None and is_moved_late(file, attribute[0])
        unread = (UNUSED + SCRIPT) * is_unread  # `x` where `self.x` is read
        return OPTIONAL * optional + UNUSED * is_weak + unread + GIVEN * _is_of_given(file, node, text)
    if not text.isidentifier() or knows(file, function, text):
        return 0.0
    return UNUSED + SCRIPT * is_of_script(file, node, text)


def _has_key_of_run(file: File, node: cst.CSTNode, text: str) -> bool:
    """Return whether an expression has a key that a function, or its class, does not write: another run has others."""
    function = file.function_of(node)
    around = file.code(file.class_of(node) or function) if function is not None and "[" in text else ""
    return bool(around) and any(not re.search(rf"[\"']{re.escape(key)}[\"']", around) for _, key in KEY.findall(text))


def _is_known_in_lambda(file: File, node: cst.CSTNode, name: str) -> bool:
    """Return whether a lambda around a node, or a function around that, binds or reads a name; True without a lambda.

    A lambda that a file gives to others may be called with tensors that are elsewhere, as a function may.
    """
    around = [each for each in file.ancestors(node) if isinstance(each, cst.FunctionDef | cst.Lambda)]
    return not around or any(knows(file, each, name) for each in around)


def device_names(site: FixSite, file: File) -> list[str]:
    """Return the expressions for any device that are bound before a site, the simplest first.

    >>> device_names(next(ctx.sites("use")).fix_site, source.file(failure.at))
    []
    """
    node = file.root_at(site.place)
    if node is None:
        return []
    found = [
        each.expression
        for each in site.scope
        if each.kind in ("device", "string") and re.search(r"(device|dev|map_location)$", each.expression)
    ]
    known = (text for text in found if is_bound(file, node, text) and not _penalty(file, node, text))
    return sorted(known, key=lambda text: (text.count("."), len(text)))


def _texts(diagnosis: Diagnosis, site: FixSite, file: File, wanted: str) -> Iterator[tuple[float, str]]:
    frame = site.frame if site.frame is not None else frame_of(diagnosis.failure, site.place)
    held = [name for each in diagnosis.failure.operands for name in each.names if name.frame == frame]
    named = {each.expression for each in held if each.relation != "storage"}  # such as the other rows of one tensor
    there = [each for each in diagnosis.failure.operands if each.device == wanted]
    derived = {name.expression for each in there for name in each.sources if name.frame == frame}
    # With two GPUs, an unindexed "cuda" is one of them here and may be the other one elsewhere.
    two = _is_between_gpus(diagnosis, wanted)
    if wanted == "cpu" and site.frame is not None:  # a tensor from elsewhere must not be fixed to the host
        yield 1.0, '"cpu"'
    for binding in site.scope:
        text = binding.expression
        if binding.kind in DEVICE_KINDS and means(binding, wanted) and not (two and binding.device == "cuda"):
            yield (0.0 if DEVICE_NAME.search(text) else 2.0) + 0.5 * attribute_depth(text), text
        elif binding.kind == "tensor" and is_there(binding, wanted):
            # A weight nearly always exists; a bias, or the statistics of a normalization, may be None elsewhere.
            is_statistic = STATISTICS.search(text) is not None
            bias = 0.2 * bool(is_statistic or BIAS.search(text))
            is_parameter = is_statistic or binding.type.endswith("Parameter")
            foreign = _is_of_callers(site, file, text)
            parameter = 1.0 + bias + _is_given(site, text) if is_parameter else foreign
            # A name is clearer than an element: `frames` before `packed[2]`. With two GPUs, the peer's device is right
            # in every call, another tensor's only in this one.
            is_peer = two and text in named
            depth = attribute_depth(text)
            far = 0.2 * depth + bias + foreign if is_peer else 0.5 * depth + parameter
            yield (2.0 if text in named else 2.6 if text in derived else 3.0) + far, f"{text}.device"
        elif binding.kind == "module" and is_there(binding, wanted) and _has_parameters(site, text):
            yield 6.0 + 0.5 * attribute_depth(text), f"next({text}.parameters()).device"


def _is_between_gpus(diagnosis: Diagnosis, wanted: str) -> bool:
    """Return whether an operand is on a GPU other than the wanted one."""
    others = (each.device for each in diagnosis.failure.operands if each.device != wanted)
    return wanted.startswith("cuda:") and any(each.startswith("cuda:") for each in others)


def _is_of_given(file: File, node: cst.CSTNode, text: str) -> bool:
    """Return whether an expression names a part of a module that a caller gives, which no code of the file reads."""
    attribute = PART.match(text)
    if attribute is None or file.find(file.module, text.removesuffix(".device")):
        return False
    return is_taken_over(file, node, attribute[1])


def _is_given(site: FixSite, text: str) -> float:
    """Return the penalty of a weight of a module that is not the function's own: another one has other parts."""
    root, owner = re.split(r"[.\[]", text)[0], text.rpartition(".")[0]
    names = {root, owner} if root != "self" else set()
    return GIVEN * any(each.kind == "module" and each.expression in names for each in site.scope)


def _is_of_callers(site: FixSite, file: File, text: str) -> float:
    """Return the penalty of a tensor that a module of the function's caller keeps, and that the function does not read.

    A function that is generic takes other modules as well, which do not have it.
    """
    node = file.root_at(site.place)
    functions = [each for each in file.ancestors(node) if isinstance(each, cst.FunctionDef)] if node is not None else []
    is_given = any(root_name(text) in parameters(each) for each in functions)
    is_read = any(file.find(each, text) for each in functions)
    return _is_given(site, text) if is_given and not is_read else 0.0


def _has_parameters(site: FixSite, module: str) -> bool:
    """Return whether a module is known to have parameters, and is in no other module that is an anchor as well."""
    inside = [each for each in site.scope if each.expression.startswith(f"{module}.") and each.kind == "tensor"]
    around = [
        each.expression for each in site.scope if each.kind == "module" and module.startswith(f"{each.expression}.")
    ]
    return not around and (not inside or any(each.type.endswith("Parameter") for each in inside))


def means(binding: ScopeVariable, device: str) -> bool:
    """Return whether a device or string variable names `device`; an unindexed "cuda" is the current GPU."""
    return binding.device == device or (is_on_gpu(binding.device) and binding.device == device.partition(":")[0])


def is_there(binding: ScopeVariable, device: str) -> bool:
    """Return whether a variable is on a device, or on one of a kind: "cuda" is each GPU."""
    return binding.device == device or (is_on_gpu(device) and binding.device.partition(":")[0] == device)
