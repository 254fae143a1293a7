"""`.cuda()` or "cuda" is written into the code, and the machine has no GPU."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    DeviceSource,
    Diagnosis,
    Failure,
    File,
    Finding,
    Sources,
    change,
    device_names,
    device_sources,
    device_text,
    expression,
    imported_name,
    is_passed_in,
    last_name,
    literal_node,
    placement_locations,
    replace_device,
    replace_device_name,
    with_constant,
)


def diagnose(failure: Failure) -> Finding | None:
    """Report the place that asks for a GPU, in a run without one."""
    if failure.kind != "no-device" or failure.at is None:
        return None
    reason = f"{failure.at.path}:{failure.at.line} puts something on a GPU, and there is none."
    return Finding(0, reason, strength=1, device="cpu")


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Use the device that the code has a name for; else ask, once a file, whether there is a GPU."""
    found = device_sources(diagnosis.failure, placement_locations(diagnosis), source)
    if not found or found[0].parameter or found[-1].file.qualified_name(found[-1].call.func).startswith("torch.cuda."):
        return
    outer = found[0]
    for each in found:
        yield from _named(each)
    literal = literal_node(outer.file, outer.named) if outer.named is not None else None
    if literal is not None and literal is not outer.named and outer.named is not None:
        yield from _asked(outer.file, {literal: _choice(outer.file, literal)})
    else:
        yield from _everywhere(outer.file)


def _named(found: DeviceSource) -> Iterator[Change]:
    """Yield the device that has a name in scope, or that of a tensor which the function was given."""
    function = found.file.function_of(found.call)
    here = {each.expression: each for each in found.spot.scope}
    names = [text for text in device_names(found.spot, found.file) if here[text].device == "cpu"]
    tensors = [text for text, each in here.items() if each.kind == "tensor" and function is not None]
    given = [f"{text}.device" for text in tensors if function is not None and is_passed_in(found.file, function, text)]
    for text in (*names[:1], *given[:1]):
        made = replace_device_name(found, text)
        if made:
            yield made


def _choice(file: File, literal: cst.SimpleString) -> cst.BaseExpression:
    return expression(f'{file.code(literal)} if {imported_name(file, "torch.cuda.is_available")}() else "cpu"')


def _asked(file: File, nodes: dict[cst.CSTNode, cst.CSTNode]) -> Iterator[Change]:
    if imported_name(file, "torch"):
        made = change(file, file.replaced(nodes), "Ask whether there is a GPU")
        if made:
            yield made


def _everywhere(file: File) -> Iterator[Change]:
    """Yield all that the file puts on a GPU by its bare name put on one device, which is asked for at its top."""
    taken = {each.value for each in file.within(file.module) if isinstance(each, cst.Name) and _is_variable(file, each)}
    name = next((each for each in ("device", "DEVICE") if each not in taken), "")
    torch = imported_name(file, "torch")
    if not torch or not name:
        return
    now = file
    # One after the other, since one may stand in another: `model(x.cuda()).cuda()`.
    while (call := next((each for each in now.within(now.module) if _is_bare(each)), None)) is not None:
        now = File(file.path, now.replaced({call: replace_device(call, name)}).bytes)
    if now is not file:
        line = f'{name} = {torch}.device("cuda" if {torch}.cuda.is_available() else "cpu")'
        made = change(file, with_constant(now, line), "Ask once whether there is a GPU")
        if made:
            yield made


def _is_bare(node: cst.CSTNode) -> bool:
    """Whether a call places its result on "cuda", whichever GPU that is."""
    if not isinstance(node, cst.Call) or last_name(node.func) in ("device", "Generator"):
        return False
    if last_name(node.func) == "cuda" and not isinstance(node.func, cst.Attribute):
        return False
    return device_text(node).replace("'", '"') == '"cuda"'


def _is_variable(file: File, name: cst.Name) -> bool:
    """Whether a name stands for a variable, and not for an attribute or a keyword."""
    parent = file.parent(name)
    if isinstance(parent, cst.Attribute):
        return parent.attr is not name
    return not (isinstance(parent, cst.Arg) and parent.keyword is name)
