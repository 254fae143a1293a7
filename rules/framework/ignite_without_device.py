"""An engine of Ignite is not told the device, so it hands batches to the model as they come."""

from collections.abc import Iterator

import libcst as cst

from devfix.sdk import (
    Change,
    Diagnosis,
    Failure,
    File,
    Finding,
    FixSite,
    Sources,
    add_keyword,
    argument,
    assignments,
    change,
    describe,
    device_expressions,
    imported_name,
    insert_before,
    is_intentional,
    is_of,
    misplaced_operands,
    objects_of,
    parameters,
    scope_at,
    with_import,
)

ENGINE = "ignite.Engine"
MAKERS = ("ignite.engine.create_supervised_trainer", "ignite.engine.create_supervised_evaluator")


def diagnose(failure: Failure) -> Finding | None:
    """Report a tensor on the host that nobody moved, where an engine is running."""
    if not objects_of(failure, ENGINE):
        return None
    for index, operand, peer in misplaced_operands(failure):
        if operand.device == "cpu" and operand.owner is None and not is_intentional(failure, operand):
            reason = (
                f"{describe(operand)} comes from the engine's data on {operand.device}, and nothing moves it,"
                f" while it meets a tensor on {peer.device}."
            )
            return Finding(index, reason, strength=2)
    return None


def propose(diagnosis: Diagnosis, source: Sources) -> Iterator[Change]:
    """Tell the device where Ignite makes the engine; else convert the batch at the start of the engine's own step."""
    failure = diagnosis.failure
    for number in reversed(range(len(failure.frames))):
        file = source.file(failure.frames[number].place)
        node = file.root_at(failure.frames[number].place) if file is not None else None
        if file is None or node is None:
            continue
        engines = [each for each in failure.frames[number].scope if is_of(each, ENGINE)]
        function = file.function_of(node)
        names = parameters(function)[-2:] if function is not None else []
        if function is not None and any(each.expression == names[0] for each in engines if len(names) == 2):
            yield from _converted(diagnosis, number, file, function, names[1])
        running = [each.expression for each in engines if file.find(node, each.expression)]
        for name in running:
            yield from _told(diagnosis, file, name)


def _converted(diagnosis: Diagnosis, frame: int, file: File, function: cst.FunctionDef, batch: str) -> Iterator[Change]:
    place = diagnosis.failure.frames[frame].place
    body = function.body.body if isinstance(function.body, cst.IndentedBlock) else ()
    first = next((each for each in body if file.find(each, batch)), None)
    name = imported_name(file, "ignite.utils.convert_tensor") or "convert_tensor"
    if first is None:
        return
    for device in _names(diagnosis, FixSite("use", place, diagnosis.failure.frames[frame].scope, (), frame), file):
        module = insert_before(file, first, [f"{batch} = {name}({batch}, device={device})"])
        if module is not None and name == "convert_tensor":
            module = with_import(module, "ignite.utils", name)
        made = change(file, module, f"Convert `{batch}` to `{device}` before it is used")
        if made:
            yield made


def _told(diagnosis: Diagnosis, file: File, engine: str) -> Iterator[Change]:
    for each in assignments(file, engine):
        call = each.value
        if not isinstance(call, cst.Call) or argument(call, "device", 3) is not None:
            continue
        if file.qualified_name(call.func) not in MAKERS:
            continue
        place = file.place_of(call, _function(file, call))
        for device in _names(diagnosis, FixSite("birth", place, scope_at(diagnosis.failure, place)), file):
            told = add_keyword(call, "device", device)
            made = change(file, file.replaced({call: told}), f"Give `{file.code(call.func)}` the device `{device}`")
            if made:
                yield made


def _function(file: File, node: cst.CSTNode) -> str:
    """The name of the function around a node, as the interpreter tells it."""
    around = [each for each in file.ancestors(node) if isinstance(each, cst.FunctionDef | cst.ClassDef)]
    parts: list[str] = []
    for each in reversed(around):
        inside = parts and isinstance(file.function_of(each), cst.FunctionDef)
        parts += ["<locals>", each.name.value] if inside else [each.name.value]
    return ".".join(parts) or "<module>"


def _names(diagnosis: Diagnosis, spot: FixSite, file: File) -> list[str]:
    """The expressions for the device: a name for it, else Ignite's own where the file has its `distributed`."""
    found = device_expressions(diagnosis, spot, file)
    own = imported_name(file, "ignite.distributed.device")
    plain = [each for each in found if each.endswith(("device", "dev")) and not each.endswith((".weight.device",))]
    named = [each for each in plain if each.count(".") < 2 and "(" not in each]
    return list(dict.fromkeys([*([f"{own}()"] if own else []), *named, *found]))[:3]
