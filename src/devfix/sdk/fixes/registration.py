"""Replace plain containers of modules or parameters by registering ones, if their uses allow it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import libcst as cst

from devfix.source import File, Sources, last_name
from devfix.source.edits.expressions import argument, expression
from devfix.source.matches import match
from devfix.source.queries.naming import imported_name
from devfix.source.queries.reading import assigned_values

# A ModuleDict rejects a key that is the name of one of its own attributes.
TAKEN = re.compile(
    r"T_destination|add_module|apply|bfloat16|buffers|call_super_init|children|clear|compile|cpu|cuda|double|dump_patches"
    r"|eval|extra_repr|float|forward|half|ipu|items|keys|load_state_dict|modules|mtia|named_(buffers|children|modules"
    r"|parameters)|parameters|pop|requires_grad_|share_memory|state_dict|to|to_empty|train|training|type|update|values"
    r"|xpu|zero_grad|(register|get|set)_\w+"
)
# Methods of lists and dictionaries that ModuleList and ModuleDict lack.
LACKING = ("get", "setdefault", "popitem", "fromkeys", "copy", "count", "index", "remove", "reverse", "sort")
PARAMETERS = ("Parameter($$$)", "$_.Parameter($$$)")
LOADS = ("load_state_dict", "load_from_checkpoint")
OTHER_STATE = re.compile(r"optim|sched|scaler|loader|sampler|warmup|ema", re.IGNORECASE)


def module_container(file: File, value: cst.BaseExpression) -> cst.Call | None:
    """Return the ModuleList or ModuleDict for a list, tuple or dictionary of modules, including nested ones.

    Returns None if the value is none of these, the file does not import `nn`, or a key is not valid for a module.

    >>> lines = b"from torch import nn\\nheads = {'a': [nn.Linear(2, 1)]}\\nothers = {'train': nn.ReLU()}\\n"
    >>> file = File("m.py", lines)
    >>> code(module_container(file, assignments(file, "heads")[0].value))
    "nn.ModuleDict({'a': nn.ModuleList([nn.Linear(2, 1)])})"
    >>> module_container(file, assignments(file, "others")[0].value) is None
    True
    """
    name = _container(value)
    written = imported_name(file, f"torch.nn.{name}") if name else ""
    call = expression(f"{written}()") if written else None
    if not isinstance(call, cst.Call) or any(_is_invalid_key(key) for key in _keys(value)):
        return None
    if isinstance(value, cst.Call) and name == "ModuleList":
        return call.with_changes(args=value.args)  # it converts its argument to a list, as `list` and `tuple` do
    if isinstance(value, cst.List | cst.Tuple | cst.Dict) and not value.elements:
        return call
    inner: dict[cst.CSTNode, cst.BaseExpression] = {}
    for each in _values(value):
        if _container(each):
            below = module_container(file, each)
            if below is None:
                return None
            inner[each] = below
    registered = value.visit(_RegisteringContainers(inner))
    assert isinstance(registered, cst.BaseExpression)
    return call.with_changes(args=[cst.Arg(registered)])


def parameter_container(file: File, value: cst.BaseExpression) -> cst.Call | None:
    """Return the ParameterList or ParameterDict for a list, tuple or dictionary of parameters, which may be empty.

    Returns None if the value is none of these, the file does not import `nn`, a key is not valid, or an element may be
    something else: both make parameters of all tensors that they are given.

    >>> lines = b"from torch import nn, ones\\na = [nn.Parameter(ones(2))]\\nb = [nn.Parameter(ones(2)), ones(2)]\\n"
    >>> file = File("m.py", lines)
    >>> code(parameter_container(file, assignments(file, "a")[0].value))
    'nn.ParameterList([nn.Parameter(ones(2))])'
    >>> parameter_container(file, assignments(file, "b")[0].value) is None
    True
    """
    name = _container(value).replace("Module", "Parameter")
    written = imported_name(file, f"torch.nn.{name}") if name else ""
    call = expression(f"{written}()") if written else None
    is_known = not isinstance(value, cst.Call) or not any(each.star or each.keyword is None for each in value.args)
    if not isinstance(call, cst.Call) or not is_known or any(_is_invalid_key(key) for key in _keys(value)):
        return None
    values = list(_values(value))
    if not all(is_parameter(file, each) for each in values):
        return None
    return call.with_changes(args=[cst.Arg(value)]) if values else call


def is_parameter(file: File, value: cst.BaseExpression) -> bool:
    """Return whether an expression is a new parameter, or the name of a variable to which nothing else is assigned.

    >>> file = File("m.py", b"from torch import nn, ones\\nw = nn.Parameter(ones(2))\\nv = ones(2)\\n")
    >>> [is_parameter(file, expression(text)) for text in ("nn.Parameter(x)", "w", "v")]
    [True, True, False]
    """
    given = assigned_values(file, value.value, file.function_of(value)) if isinstance(value, cst.Name) else [value]
    return bool(given) and all(match(each, *PARAMETERS) is not None for each in given)


class _RegisteringContainers(cst.CSTTransformer):
    """Replaces plain containers by registering ones."""

    def __init__(self, inner: Mapping[cst.CSTNode, cst.BaseExpression]) -> None:
        super().__init__()
        self.inner = inner

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        return self.inner.get(original_node, updated_node)


def modules_of(file: File, value: cst.BaseExpression, text: str) -> str:
    """Return the expression of a ModuleList of the modules in a flat, filled container; "" if it is not one.

    >>> file = File("m.py", b"from torch import nn\\nheads = {'train': nn.ReLU()}\\n")
    >>> modules_of(file, assignments(file, "heads")[0].value, "self.heads")
    'nn.ModuleList(self.heads.values())'
    """
    name, written = _container(value), imported_name(file, "torch.nn.ModuleList")
    is_empty = isinstance(value, cst.List | cst.Tuple | cst.Dict) and not value.elements
    is_empty = is_empty or (isinstance(value, cst.Call) and not value.args)
    if not name or not written or is_empty or any(_container(each) for each in _values(value)):
        return ""
    return f"{written}({text}.values())" if name == "ModuleDict" else f"{written}({text})"


def takes_modules(file: File, holder: cst.ClassDef, name: str) -> bool:
    """Return whether all uses of an attribute in a class work for a ModuleList or ModuleDict: no `.get(…)`, no `+ […]`.

    >>> lines = b"class A:\\n    def f(self): return self.a.get('x')\\n    def g(self): return self.b['x']\\n"
    >>> file = File("m.py", lines)
    >>> [takes_modules(file, definition(file, "A"), name) for name in ("self.a", "self.b")]
    [False, True]
    """
    return not any(_needs_builtin(file, each) for each in file.find(holder, name))


def loads_strictly(source: Sources) -> bool:
    """Return whether a file of the repository loads a state dict whose keys must match the module's.

    >>> loads_strictly(source)
    False
    """
    return any(_is_strict(file, node) for file in source.containing(*LOADS) for node in file.within(file.module))


def _is_strict(file: File, node: cst.CSTNode) -> bool:
    if not isinstance(node, cst.Call) or last_name(node.func) not in LOADS:
        return False
    owner = node.func.value if isinstance(node.func, cst.Attribute) else None
    if owner is None or OTHER_STATE.search(file.code(owner)):
        return False
    strict = argument(node, "strict", 1 if last_name(node.func) == "load_state_dict" else None)
    return strict is None or file.code(strict.value) != "False"


def _container(value: cst.CSTNode) -> str:
    called = last_name(value.func) if isinstance(value, cst.Call) else ""
    if isinstance(value, cst.Dict | cst.DictComp) or called in ("dict", "OrderedDict"):
        return "ModuleDict"
    if isinstance(value, cst.List | cst.ListComp | cst.Tuple) or called in ("list", "tuple"):
        return "ModuleList"
    return ""


def _values(value: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """Yield the expressions of the elements of a container literal."""
    if isinstance(value, cst.List | cst.Tuple | cst.Dict):
        yield from (each.value for each in value.elements)
    elif isinstance(value, cst.ListComp):
        yield value.elt
    elif isinstance(value, cst.DictComp):
        yield value.value
    elif isinstance(value, cst.Call) and last_name(value.func) in ("dict", "OrderedDict"):
        yield from (each.value for each in value.args if each.keyword is not None)


def _keys(value: cst.BaseExpression) -> Iterator[cst.BaseExpression | str]:
    """Yield the keys of a dictionary literal."""
    if isinstance(value, cst.Dict):
        yield from (each.key for each in value.elements if isinstance(each, cst.DictElement))
    elif isinstance(value, cst.Call) and last_name(value.func) in ("dict", "OrderedDict"):
        yield from (each.keyword.value for each in value.args if each.keyword is not None)


def _is_invalid_key(key: cst.BaseExpression | str) -> bool:
    """Return whether a ModuleDict rejects a key: not text, empty, with a dot, or the name of its own attribute."""
    if isinstance(key, cst.BaseNumber | cst.Tuple):
        return True
    if not isinstance(key, str | cst.SimpleString):
        return False  # a variable, whose value is only known at run time
    text = key if isinstance(key, str) else key.evaluated_value
    return not isinstance(text, str) or not text or "." in text or TAKEN.fullmatch(text) is not None


def _needs_builtin(file: File, node: cst.BaseExpression) -> bool:
    parent = file.parent(node)
    if isinstance(parent, cst.Attribute) and parent.value is node:
        return parent.attr.value in LACKING
    if isinstance(parent, cst.BinaryOperation | cst.ComparisonTarget | cst.Comparison):
        return not (isinstance(parent, cst.ComparisonTarget) and isinstance(parent.operator, cst.In | cst.NotIn))
    call = file.parent(parent) if isinstance(parent, cst.Arg) else None
    return isinstance(call, cst.Call) and last_name(call.func) in ("isinstance", "type", "dumps", "dump")
