"""A module keeps a tensor as a plain attribute, which `.to()` does not move."""

from collections.abc import Iterator, Mapping

import libcst as cst

from devfix.sdk import (
    Changes,
    Confidence,
    Context,
    EvidenceRule,
    File,
    Safety,
    ScopeVariable,
    Sources,
    StoredAttribute,
    argument,
    as_parameter,
    assigned_targets,
    assignments,
    classes_called,
    classes_holding,
    dominating,
    insert_after,
    is_move,
    is_no_tensor,
    is_parameter,
    join_changes,
    last_name,
    may_be_a_number,
    move_to,
    parameters,
    register_as_buffer,
    register_parts,
    register_set,
    replace_statement,
    rewrite,
    set_by_name,
)

Assignment = cst.Assign | cst.AnnAssign
CONTAINERS = (cst.List, cst.Tuple, cst.Dict, cst.ListComp, cst.DictComp)
QUERIES = ("hasattr", "getattr", "delattr")


class TensorNotBuffer(EvidenceRule[StoredAttribute]):
    """Registers the attribute as a buffer where the constructor assigns it, and keeps it out of the state dict.

    A tensor that is trained, as `requires_grad` says, becomes a parameter, so that moves keep what an optimizer takes.
    An attribute that only other methods assign is registered empty. A container of tensors cannot be a buffer: its
    tensors are moved before they are used. An attribute to which a number is assigned is skipped, since a buffer
    rejects it. A module that was never moved itself, such as a criterion, is moved where it is constructed, too.
    """

    reports_intentional = True  # on a GPU that the module has left; what was put on the host is kept there

    def search(self, ctx: Context) -> StoredAttribute | None:
        """Return the attribute that stores the operand, unless a method besides the constructor made it for itself."""
        is_kept = ctx.is_held or (ctx.is_intentional and ctx.operand.device == "cpu")
        for each in ctx.stored_attributes() if not is_kept else ():
            # A module on the tensor's device was never moved itself, or holds it as a buffer.
            is_moved = each.module is not None and each.module.device not in (ctx.operand.device, "mixed")
            if is_moved and (_is_of_constructor(each) or not _is_computed_here(ctx, each)):
                return each
        return None

    def describe(self, ctx: Context, found: StoredAttribute) -> str:
        """Report an attribute of a module that has moved."""
        said = f"`{found.whole}.{found.attribute}` is a plain attribute of {found.module_type}"
        if found.module is not None and ctx.is_never_moved(found.module):
            return (
                f"{said}, which was never moved: it stayed on {ctx.operand.device}, and meets a tensor on"
                f" {ctx.peer.device}."
            )
        return (
            f"{said}: `.to()` moves parameters and buffers, so it stayed on {ctx.operand.device} when the module went"
            f" to {ctx.peer.device}."
        )

    def rate(self, ctx: Context) -> Confidence:
        """Return a lower confidence if another method than the constructor created the tensor."""
        found = self.search(ctx)
        return Confidence.DIRECT if found is not None and _is_of_constructor(found) else Confidence.NEARBY

    def fix(self, ctx: Context, found: StoredAttribute) -> Changes:
        """Look at every class that has the attribute."""
        name = found.attribute
        holders = classes_holding(ctx.failure, ctx.sources, name, found.module_type)
        if _is_given_another_kind(ctx.sources, name, {holder.name.value for _, holder in holders}):
            return
        assigned = [(file, each) for file, holder in holders for each in assignments(file, f"self.{name}", holder)]
        for file, holder in holders:
            inside = [each for each in _assigned_tensors(file, name, holder) if _in_constructor(file, each)]
            if any(isinstance(each.value, CONTAINERS) for each in inside):
                for site in ctx.sites():
                    yield from site.move_batch()
            else:
                yield from _register(ctx, found, file, dominating(file, inside))
        if not any(_in_constructor(file, each) for file, each in assigned):
            yield from _register_parts(ctx, found)
            yield from _register_by_name(ctx, found)
            if holders and not any(isinstance(each.value, CONTAINERS) for _, each in assigned):
                yield from _declare(ctx, found, holders)


def _assigned_tensors(file: File, name: str, holder: cst.ClassDef) -> list[Assignment]:
    """Return the assignments to an attribute, without those of a parameter, which registers itself."""
    given = assignments(file, f"self.{name}", holder)
    return [each for each in given if each.value is None or not is_parameter(file, each.value)]


def _register(ctx: Context, found: StoredAttribute, file: File, assigned: list[Assignment]) -> Changes:
    """Yield changes that make what a constructor assigns a parameter if it is trained, else a buffer."""
    name = found.attribute
    trained = {each.value: made for each in assigned if each.value and (made := as_parameter(file, each.value))}
    if trained:
        yield from rewrite(file, trained, f"Make `self.{name}` a parameter", Safety.LIKELY)
        return
    calls = [
        (each, register_as_buffer(file, each)) for each in assigned if not may_be_a_number(file, each, ctx.sources)
    ]
    edits: dict[cst.CSTNode, cst.CSTNode] = {each: cst.Expr(call) for each, call in calls if call is not None}
    if len(edits) < len(assigned):
        return
    title = f"Register `self.{name}` as a buffer"
    if found.module is not None and ctx.is_never_moved(found.module):
        if found.module.device:  # a loop over modules may move it, where its parts were moved before
            yield from rewrite(file, edits, title)
        yield from _register_and_move(ctx, found.module, file, edits, name)
    elif replaced := [*_replaced_in_use(ctx, found, file)]:
        for device, moved in replaced:
            yield from rewrite(file, {**edits, **moved}, f"{title}, and move what replaces it to `{device}`")
    else:
        yield from rewrite(file, edits, title)


def _replaced_in_use(
    ctx: Context, found: StoredAttribute, file: File
) -> Iterator[tuple[str, dict[cst.CSTNode, cst.CSTNode]]]:
    """Yield devices of what the running method was given, and edits that move there what it assigns to the attribute.

    A method that replaces a table by a longer one computes it on the host again.
    """
    site = ctx.site_of(found.frame)
    if site is None or site.function is None or site.file.path != file.path or _in_constructor(site.file, site.node):
        return
    given = (each for each in site.device_expressions() if each.partition(".")[0] in parameters(site.function)[1:])
    for device in given:
        values = [each.value for each in assignments(site.file, f"self.{found.attribute}", site.function)]
        edits: dict[cst.CSTNode, cst.CSTNode] = {
            each: move_to(each, device)
            for each in values
            if isinstance(each, cst.Call) and not is_move(each) and argument(each, "device") is None
        }
        if edits:
            yield device, edits


def _register_and_move(
    ctx: Context, module: ScopeVariable, file: File, registered: Mapping[cst.CSTNode, cst.CSTNode], name: str
) -> Changes:
    """Yield changes that also move a module that was never moved, at the call that constructed it."""
    for site in ctx.construction_sites(module):
        call = site.call()
        for device in site.device_expressions() if call is not None else ():
            assert call is not None
            moved: dict[cst.CSTNode, cst.CSTNode] = {call: move_to(call, device)}
            title = f"Register `self.{name}` as a buffer, and move its {module.type} to `{device}`"
            if site.file.path == file.path:
                yield from rewrite(file, {**registered, **moved}, title)
                continue
            pairs = ((file, registered), (site.file, moved))
            joined = join_changes(title, *(next(rewrite(each, edits, title), None) for each, edits in pairs))
            yield from [joined] if joined is not None else ()
        if site.is_in_constructor:  # the next one constructs what keeps the module
            return


def _register_parts(ctx: Context, found: StoredAttribute) -> Changes:
    """Yield changes that split `self.a, self.b = x, y` of a constructor, and register the tensors among them."""
    scope = ctx.failure.frames[found.frame].scope
    tensors = [each for each in scope if each.kind == "tensor" and each.device == ctx.operand.device]
    own = {each.expression.removeprefix(f"{found.whole}.") for each in tensors if not each.type.endswith("Parameter")}
    type_name = found.module_type
    classes = [(file, holder) for file in ctx.files() for holder in classes_called(file, type_name)]
    for file, holder in classes if found.attribute in own else ():
        for node in file.within(holder, cst.Assign):
            if not _in_constructor(file, node):
                continue
            target = node.targets[0].target
            elements = [file.code(each.value) for each in target.elements] if isinstance(target, cst.Tuple) else []
            names = [each for each in own if f"self.{each}" in elements]
            others = (each for each in names if _is_given_another_kind(ctx.sources, each, {type_name}))
            if found.attribute not in names or any(others):
                continue
            statement, lines = file.statement_of(node), register_parts(file, node, names)
            is_alone = isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1
            module = replace_statement(file, statement, lines) if lines and statement is not None and is_alone else None
            listed = ", ".join(f"`self.{each}`" for each in sorted(names))
            yield from rewrite(file, module, f"Register {listed} as buffers", joint=len(names) > 1)


def _register_by_name(ctx: Context, found: StoredAttribute) -> Changes:
    """Yield a change that registers what a constructor sets by a computed name: `setattr(self, f"at_{i}", table)`."""
    classes = [found.module_type, *(each.rpartition(".")[2] for each in found.module.classes)] if found.module else []
    for file in ctx.files():
        holders = (holder for name in dict.fromkeys(classes) for holder in classes_called(file, name))
        calls = [call for holder in holders for call in set_by_name(file, holder, found.attribute)]
        yield from rewrite(file, {each: register_set(each) for each in calls}, "Register what is set as buffers")


def _declare(ctx: Context, found: StoredAttribute, holders: list[tuple[File, cst.ClassDef]]) -> Changes:
    """Yield a change that registers an empty buffer in the constructor, which the methods that assign it fill.

    It is the innermost constructor under which the attribute was assigned, since a name that has been assigned cannot
    be registered any more; else that of the class that assigns it. Code that asks whether the attribute exists would
    find it from the beginning.
    """
    name = found.attribute
    if _is_queried(ctx.sources, name):
        return
    running = [place for place in found.places if place.owned and place.function.endswith(".__init__")]
    owners = [place.function.split(".")[-2] for place in running] or [holder.name.value for _, holder in holders]
    for file in ctx.files():
        for holder in classes_called(file, owners[0]):
            line = _base_constructor_call(file, holder)
            empty = f"self.register_buffer({file.quote}{name}{file.quote}, None, persistent=False)"
            module = insert_after(file, line, [empty]) if line is not None else None
            yield from rewrite(file, module, f"Register `self.{name}` as a buffer")


def _base_constructor_call(file: File, holder: cst.ClassDef) -> cst.CSTNode | None:
    """Return the statement of a class's own constructor that calls its base's; a module registers nothing before it."""
    own = [each for each in holder.body.body if isinstance(each, cst.FunctionDef) and each.name.value == "__init__"]
    calls = ((line, call) for each in own[:1] for line in each.body.body for call in file.within(line, cst.Call))
    bases = (line for line, call in calls if last_name(call.func) == "__init__")
    return next((line for line in bases if isinstance(line, cst.SimpleStatementLine)), None)


def _is_queried(sources: Sources, name: str) -> bool:
    """Return whether code asks whether an attribute exists: `hasattr`, `getattr`, `except AttributeError`."""
    words = (f'"{name}"', f"'{name}'")
    calls = ((file, call) for file in sources.containing(*words) for call in file.within(file.module, cst.Call))
    queries = ((file, call) for file, call in calls if last_name(call.func) in QUERIES)
    if any(file.code(each.value) in words for file, call in queries for each in call.args):
        return True
    return any("AttributeError" in file.text for file in sources.containing(f"self.{name} ="))


def _is_of_constructor(found: StoredAttribute) -> bool:
    """Return whether no other method than the constructor of its class or of a base created the tensor."""
    place = found.maker.owned_place if found.maker is not None else None
    if found.module is None or place is None:
        return True
    if place.function.rpartition(".")[0] != found.module.type:
        return True
    lineage = {found.module.type, *(each.rpartition(".")[2] for each in found.module.classes)}
    return any(each.function in {f"{name}.__init__" for name in lineage} for each in found.places)


def _is_computed_here(ctx: Context, found: StoredAttribute) -> bool:
    """Return whether the method that uses the tensor also created it: a cache, which no earlier move reaches."""
    running = ctx.failure.frames[found.frame].place
    return any((each.path, each.function) == (running.path, running.function) for each in found.places)


def _is_given_another_kind(sources: Sources, name: str, holders: set[str]) -> bool:
    """Return whether a file of the repository assigns to an attribute of that name what a buffer rejects.

    Assignments of other classes to their own attribute of that name are ignored.
    """
    for file in sources.containing(f".{name} =", f".{name}: "):
        for node in file.within(file.module):
            if isinstance(node, Assignment) and is_no_tensor(node.value):
                targets = [each for each in assigned_targets(node) if isinstance(each, cst.Attribute)]
                owners = {file.code(each.value) for each in targets if each.attr.value == name}
                around = file.class_of(node)
                if owners - {"self"} or (owners and around is not None and around.name.value in holders):
                    return True
    return False


def _in_constructor(file: File, node: cst.CSTNode) -> bool:
    """Return whether a node is in a constructor, or in a method that the constructor of the class calls."""
    function, holder = file.function_of(node), file.class_of(node)
    own = f"self.{function.name.value}" if function is not None else ""
    reads = (file.function_of(each) for each in file.find(holder, own)) if own and holder is not None else ()
    return any(each is not None and each.name.value == "__init__" for each in (function, *reads))
