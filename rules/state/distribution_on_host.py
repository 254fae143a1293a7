"""A module or another object keeps a distribution, whose parameters `.to()` does not move."""

from dataclasses import dataclass, field, replace

import libcst as cst

from devfix.sdk import (
    Changes,
    Context,
    Definition,
    EvidenceRule,
    File,
    Safety,
    add_method,
    assigned_targets,
    assigned_values,
    assignments,
    creates_on_default_device,
    definition,
    expression,
    insert_after,
    is_in_constructor,
    is_local,
    last_name,
    parameters,
    replace_statement,
    rewrite,
)

DISTRIBUTIONS = "torch.distributions."
# What the classes that take more than one tensor call them; others have one, `probs` or a name of their own.
NAMES = {
    "MultivariateNormal": ("loc", "covariance_matrix", "precision_matrix", "scale_tril"),
    "LowRankMultivariateNormal": ("loc", "cov_factor", "cov_diag"),
    "AffineTransform": ("loc", "scale"),
    "Beta": ("concentration1", "concentration0"),
    "Categorical": ("probs", "logits"),
    "Bernoulli": ("probs", "logits"),
    "Dirichlet": ("concentration",),
    "Exponential": ("rate",),
    "Gamma": ("concentration", "rate"),
    "Poisson": ("rate",),
    "StudentT": ("df", "loc", "scale"),
    "Uniform": ("low", "high"),
}
USUAL = ("loc", "scale")
COLLECTIONS = (cst.List, cst.Tuple, cst.Dict, cst.ListComp, cst.DictComp)
Assignment = cst.Assign | cst.AnnAssign


@dataclass
class Kept:
    """A distribution that a constructor assigns to an attribute: the assignment, its class, and if that is a module.

    `is_listed`: the attribute is a list, a tuple or a dictionary of distributions, of which `call` is one.
    """

    file: File
    holder: cst.ClassDef
    assigned: Assignment
    attribute: str
    call: cst.Call
    is_of_module: bool
    is_listed: bool


@dataclass
class Parts:
    """The expressions of a distribution that are tensors, by the names of their buffers, and all others."""

    tensors: dict[str, cst.BaseExpression] = field(default_factory=dict)
    others: list[cst.BaseExpression] = field(default_factory=list)


class DistributionOnHost(EvidenceRule[Kept]):
    """Registers the parameters as buffers, and builds the distribution of them where it is used, by a property.

    An object that is not a module builds it again where its own `to` moves the rest; if it has none, its constructor
    creates the parameters on the device, which it is to be given.
    """

    supersedes = ("placement/factory-without-device",)

    def search(self, ctx: Context) -> Kept | None:
        """Return the distribution for which a constructor created the operand; None if it did not."""
        made, method = ctx.site_at(ctx.created_at), ctx.definition_at(ctx.created_at)
        holder = method.holder.node if method is not None and method.holder is not None else None
        if made is None or method is None or not isinstance(holder, cst.ClassDef) or not made.is_in_constructor:
            return None
        file = made.file
        is_module = any(each.expression == "self" and each.kind == "module" for each in made.scope)
        for node in file.within(method.node):
            call = _distribution(file, node.value) if isinstance(node, Assignment) else None
            if isinstance(node, Assignment) and call is not None:
                target = file.code(assigned_targets(node)[0])
                attribute = target.removeprefix("self.")
                is_own = attribute != target and attribute.isidentifier()
                if is_own and _holds(file, node, made.node) and len(assignments(file, target, holder)) == 1:
                    return Kept(file, holder, node, attribute, call, is_module, call is not node.value)
        return None

    def describe(self, ctx: Context, found: Kept) -> str:
        """Report a tensor that a constructor created for a distribution."""
        kept = "keeps distributions" if found.is_listed else "is a distribution"
        return (
            f"`self.{found.attribute}` of {found.holder.name.value} {kept}, which `.to()` does not move: its"
            f" parameters stayed on {ctx.operand.device}, while it meets a tensor on {ctx.peer.device}."
        )

    def fix(self, ctx: Context, found: Kept) -> Changes:
        """Rewrite the class, if the distribution needs nothing else that only the constructor knows.

        Several in a list are built by no property, and by no `to`.
        """
        mover, module = definition(found.file, f"{found.holder.name.value}.to"), None
        if not found.is_of_module and mover is None:
            yield from _pass_device(ctx, found)
        elif found.is_of_module and not found.is_listed:
            parts = _find_parts(ctx, found)
            module = _register(found, parts) if parts is not None else None
            title = f"Register the parameters of `self.{found.attribute}` as buffers"
        elif isinstance(mover, cst.FunctionDef) and not found.is_listed:
            module = _build_again(found, mover)
            title = f"Build `self.{found.attribute}` again where `{found.holder.name.value}.to` moves the rest"
        if module is not None:
            yield from (replace(each, recomputes=True) for each in rewrite(found.file, module, title, Safety.LIKELY))


def _pass_device(ctx: Context, kept: Kept) -> Changes:
    """Yield changes that create the parameters of an object's distribution on a device that the constructor gets."""
    constructor = kept.file.function_of(kept.call)
    places = (each for each in ctx.operand.creation_places if not is_in_constructor(each.function))
    outer = ctx.call_at(next(places, None))
    if outer is not None and constructor is not None and kept.assigned.value is not None:
        calls = kept.file.within(kept.assigned.value, cst.Call)
        factories = [each for each in calls if creates_on_default_device(kept.file, each)]
        created = f"the parameters of `self.{kept.attribute}`"
        yield from outer.pass_device(Definition(kept.file, constructor), factories, created, Safety.LIKELY)


def _build_again(kept: Kept, mover: cst.FunctionDef) -> cst.Module | None:
    """Return the module in which the object's `to` builds the distribution again, at its end or before its return."""
    file, body = kept.file, mover.body.body
    last = body[-1]
    is_return = isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Return)
    above = body[-2:-1] if is_return else body[-1:]
    built = "" if file.find(mover, f"self.{kept.attribute}") else _write_moved(kept, mover)
    return insert_after(file, above[0], [f"self.{kept.attribute} = {built}"]) if built and above else None


def _write_moved(kept: Kept, mover: cst.FunctionDef) -> str:
    """Return the distribution of moved parameters; "" if they have no names, or the method is given no device."""
    file, names = kept.file, NAMES.get(last_name(kept.call.func), USUAL)
    own = parameters(mover)
    if len(own) < 2 or any(_is_distribution(file, node) for each in kept.call.args for node in file.within(each)):
        return ""
    given = []
    for number, each in enumerate(kept.call.args):
        name = each.keyword.value if each.keyword is not None else names[number] if number < len(names) else ""
        if each.star or not name:
            return ""
        moved = f"self.{kept.attribute}.{name}.to({own[1]})" if name in names else file.code(each.value)
        given.append(f"{name}={moved}" if each.keyword is not None else moved)
    return f"{file.code(kept.call.func)}({', '.join(given)})"


def _holds(file: File, assigned: Assignment, made: cst.CSTNode) -> bool:
    """Return whether an assignment contains a node, or what the node's statement has assigned."""
    statement = file.statement_of(made)
    if statement is file.statement_of(assigned):
        return True
    targets = [file.code(each) for each in assigned_targets(statement)]
    return assigned.value is not None and any(file.find(assigned.value, each) for each in targets)


def _distribution(file: File, value: cst.BaseExpression | None) -> cst.Call | None:
    """Return the call of a distribution's class: a value, or the first one in a list, a dictionary or the like."""
    if isinstance(value, cst.Call):
        return value if _is_distribution(file, value) else None
    calls = file.within(value, cst.Call) if isinstance(value, COLLECTIONS) else ()
    return next((each for each in calls if _is_distribution(file, each)), None)


def _is_distribution(file: File, node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) and file.qualified_name(node.func).startswith(DISTRIBUTIONS)


def _find_parts(ctx: Context, kept: Kept) -> Parts | None:
    """Return the parts of a distribution; None if a property cannot name all of them."""
    scope = ctx.scope_at(kept.file.place_of(kept.call, f"{kept.holder.name.value}.__init__"))
    tensors = {each.expression for each in scope if each.kind == "tensor"}
    parts = Parts()
    _collect(kept, kept.call, tensors, parts)
    method = kept.file.function_of(kept.call)
    named = (node.value for each in parts.others for node in kept.file.within(each, cst.Name))
    is_bound = method is not None and any(is_local(method, name) for name in named if name != "self")
    is_taken = any(kept.file.find(kept.holder, f"self.{name}") for name in parts.tensors)
    return None if is_bound or is_taken else parts


def _collect(kept: Kept, call: cst.Call, tensors: set[str], parts: Parts) -> None:
    """Add the arguments of a distribution, and of those inside it, to its parts."""
    names = NAMES.get(last_name(call.func), USUAL)
    for number, each in enumerate(call.args):
        if _is_distribution(kept.file, each.value):
            assert isinstance(each.value, cst.Call)
            _collect(kept, each.value, tensors, parts)
        elif _is_tensor(kept.file, each.value, tensors):
            usual = names[number] if number < len(names) else f"parameter{number}"
            name = f"{kept.attribute}_{each.keyword.value if each.keyword is not None else usual}"
            parts.tensors[f"{name}{number}" if name in parts.tensors else name] = each.value
        else:
            parts.others.append(each.value)


def _is_tensor(file: File, value: cst.BaseExpression, tensors: set[str]) -> bool:
    """Return whether an argument is a local tensor, or computed by a function of PyTorch."""
    method = file.function_of(value)
    given = assigned_values(file, value.value, method) if isinstance(value, cst.Name) else []
    calls = [call for each in (value, *given) for call in file.within(each, cst.Call)]
    is_computed = any(file.qualified_name(call.func).startswith("torch.") for call in calls)
    return is_computed or (isinstance(value, cst.Name) and value.value in tensors)


def _register(kept: Kept, parts: Parts) -> cst.Module | None:
    """Return the module in which the constructor registers the tensors, and a property builds the distribution."""
    file, quote = kept.file, kept.file.quote
    lines = [
        f"self.register_buffer({quote}{name}{quote}, {file.code(value)}, persistent=False)"
        for name, value in parts.tensors.items()
    ]
    statement = file.statement_of(kept.assigned)
    registered = replace_statement(file, statement, lines) if statement is not None and lines else None
    if registered is None:
        return None
    named: dict[cst.CSTNode, cst.CSTNode] = {value: expression(f"self.{name}") for name, value in parts.tensors.items()}
    replaced = file.replace(named)
    built = File(file.path, replaced.bytes)
    again = assignments(built, f"self.{kept.attribute}", definition(built, kept.holder.name.value))
    changed = File(file.path, registered.bytes)
    holder = definition(changed, kept.holder.name.value)
    if not isinstance(holder, cst.ClassDef) or len(again) != 1 or again[0].value is None:
        return None
    value = " ".join(built.code(again[0].value).split())
    method = ["@property", f"def {kept.attribute}(self):", f"    return {value}"]
    return add_method(changed, holder, method, after="__init__")
