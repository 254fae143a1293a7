"""What the defaults, annotations and tests of a function say of a parameter that held a tensor in one run."""

from __future__ import annotations

import libcst as cst
import pytest

from devfix.source import File
from devfix.source.queries.optional import is_optional, is_told_apart, may_be_left_none, may_be_no_tensor, may_be_none


@pytest.mark.parametrize(
    ("parameter", "optional"),
    [
        ("x", False),
        ("x: torch.Tensor", False),
        ('x: "Tensor"', False),
        ("x: Tensor = ORIGIN", False),
        ("x: torch.LongTensor", False),
        ("x=None", True),
        ("x=0.5", True),
        ("x='mean'", True),
        ("x=True", True),
        ("x=False", True),
        ("x: Optional[Tensor]", True),
        ("x: float | Tensor", True),
        ("*, x: Union[int, Tensor]", True),
    ],
)
def test_tells_parameters_that_may_be_no_tensor(parameter: str, optional: bool) -> None:
    function = cst.parse_statement(f"def f({parameter}): ...")
    assert isinstance(function, cst.FunctionDef)
    assert is_optional(function, "x") is optional


@pytest.mark.parametrize(
    "body",
    [
        "    return y * x\n",
        "    if not isinstance(x, (float, Tensor)):\n        raise TypeError\n    return y * x\n",
        "    if other is None:\n        return y * x\n",
        "    print(x == 1)\n    return y * x\n",
        "    z = 2\n    return y * x\n",
        "    x: Tensor\n    return y * x\n",
        "    for _ in other:\n        x = torch.as_tensor(x)\n    return y * x\n",
        "    x.scale = 2\n    return y * x\n",
        "    return [y * x, setattr(x, 'scale', 2)]\n    x = torch.as_tensor(x)\n",
        "    if isinstance(x, torch.Tensor) and x.ndim:\n        x = x.view(-1, 1)\n    return y * x\n",
        '    """Multiply.\n\n    x = 2 gives twice as much.\n    """\n    return y * x\n',
    ],
)
def test_an_untested_parameter_may_be_no_tensor(body: str) -> None:
    assert question(body)


@pytest.mark.parametrize(
    "body",
    [
        "    if x is not None:\n        return y * x\n",
        "    if isinstance(x, Tensor) and x.ndim:\n        y = y * x\n",
        "    return y if x is None else y * x\n",
        "    if isinstance(x, float):\n        x = torch.tensor(x)\n    return y * x\n",
        "    x = torch.as_tensor(x)\n    return y * x\n",
        "    x: Tensor = torch.as_tensor(x)\n    return y * x\n",
        "    y, x = broadcast(y, x)\n    return y * x\n",
        "    with torch.no_grad():\n        x = torch.as_tensor(x)\n    return y * x\n",
        "    if x is None:\n        (y, *_), x = split(y)\n    return y * x\n",
        "    if x is None:\n        return y\n    return y * x\n",
        "    if not torch.is_tensor(x):\n        raise TypeError\n    return y * x\n",
    ],
)
def test_a_test_or_a_new_value_settles_it(body: str) -> None:
    assert not question(body)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("y * x\nprint(y)\n", False),
        ("print(y * x)\nif x is None:\n    leave()\n", True),
        ("z = y * x\nif torch.is_tensor(x):\n    leave()\n", True),
        ("z = y * x\nif isinstance(x, Tensor):\n    leave()\n", True),
        ("z = y * x\nif isinstance(xs, Tensor) or y.x is None:\n    leave()\n", False),
        ("z = y if x is None else y * x\n", False),
        ("z = x is not None and y * x\n", False),
        ("if x is not None:\n    z = y * x\n", False),
        ("if x is None:\n    x = make()\nz = y * x\n", False),
        ("z = y * x\nx = find()\nif x is None:\n    leave()\n", False),
        ("if z:\n    z = y * x\nelif isinstance(x, float):\n    leave()\n", False),
        ("if z:\n    z = y * x\nelse:\n    z = x is None\n", False),
        ("if z:\n    z = y * x\nz = x is None\n", True),
        ("z = y * x\ndef g(x):\n    return x is None\n", False),
    ],
)
def test_what_is_asked_later_of_a_variable_is_not_settled(body: str, expected: bool) -> None:
    for code in (f"x = get()\n{body}", "def f(y):\n    x = get()\n    " + body.strip().replace("\n", "\n    ") + "\n"):
        file = File("m.py", code.encode())
        assert may_be_no_tensor(file, file.find(file.module, "y * x")[0], "x") is expected


def question(body: str) -> bool:
    file = File("m.py", f"def f(y, x=None, other=None):\n{body}".encode())
    return may_be_no_tensor(file, file.find(file.module, "y * x")[0], "x")


@pytest.mark.parametrize(
    ("before", "around"),
    [
        ("self.order = None", "if x:\n      self.order = x\n    return 2 * x"),
        ("self.order: Tensor | None = None", "return 2 * x"),
        ("self.register_buffer('order', None)", "if x:\n      self.order = x\n    return 2 * x"),
        ("self.register_parameter('order', None)", "return 2 * x"),
        ("pass", "self.order = None\n    return 2 * x"),
    ],
)
def test_an_attribute_may_be_left_none(before: str, around: str) -> None:
    assert attribute(before, around)


@pytest.mark.parametrize(
    ("before", "around"),
    [
        ("self.order = x", "return 2 * x"),
        ("self.disorder = None", "return 2 * x"),
        ("order = None", "return 2 * x"),
        ("self.register_buffer('other', None)", "return 2 * x"),
        ("self.register_buffer('order', x)", "return 2 * x"),
        ("self.order = None", "self.order = x\n    return 2 * x"),
        ("self.order = None", "if self.order is None:\n      self.order = x\n    return 2 * x"),
        ("self.order = None", "if self.order is None:\n      return x\n    return 2 * x"),
        ("self.order = None", "return x if self.order is None else 2 * x"),
    ],
)
def test_an_attribute_that_is_set_by_then_is_not_none(before: str, around: str) -> None:
    assert not attribute(before, around)


def attribute(before: str, around: str) -> bool:
    """Return what is said of `self.order`, where a method multiplies."""
    file = File("m.py", f"class A:\n  def __init__(self, x):\n    {before}\n  def f(self, x):\n    {around}\n".encode())
    return may_be_left_none(file, file.find(file.module, "2 * x")[0], "self.order")


@pytest.mark.parametrize(
    "body",
    [
        "    y = 2 * z\n    if isinstance(x, slice):\n        x = make(x)\n",
        "    if isinstance(z, slice) or isinstance(x, slice):\n        y = 2 * z\n",
        "    if isinstance(x, (int, slice)):\n        y = 2 * z\n",
        "    if isinstance(x, int) and z:\n        return z\n    y = 2 * z\n",
        "    if isinstance(x, int):\n        print(x)\n    y = 2 * z\n",
        "    if not isinstance(x, int):\n        return z\n    y = 2 * z\n",
    ],
)
def test_a_name_is_told_apart_from_other_types(body: str) -> None:
    assert asks(body)


@pytest.mark.parametrize(
    "body",
    [
        "    y = 2 * z\n",
        "    if isinstance(x, torch.Tensor):\n        y = 2 * z\n",
        "    if isinstance(w, slice):\n        y = 2 * z\n",
        "    if not isinstance(x, slice):\n        y = 2 * z\n",
        "    if isinstance(x, slice):\n        return z\n    else:\n        y = 2 * z\n",
        "    y = z if isinstance(x, slice) else 2 * z\n",
        "    if isinstance(x, slice):\n        x = make(x)\n    y = 2 * z\n",
        "    if z:\n        if isinstance(x, slice):\n            raise TypeError\n        y = 2 * z\n",
        "    print(isinstance(x, slice))\n    x = make(x)\n    if z:\n        y = 2 * z\n",
    ],
)
def test_a_name_is_a_tensor_where_the_question_is_answered(body: str) -> None:
    assert not asks(body)


def asks(body: str) -> bool:
    file = File("m.py", f"def f(x, z, w):\n{body}".encode())
    return is_told_apart(file, file.find(file.module, "2 * z")[0], "x")


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        ("gpu", "    load(gpu)\n", False),
        ("gpu=0", "    load(gpu)\n", False),
        ("gpu=None", "    load(gpu)\n", True),
        ("gpu", "    print(gpu is None)\n    load(gpu)\n", True),
        ("gpu", "    if gpu is None:\n        return\n    load(gpu)\n", False),
        ("gpu", "    if gpu is None:\n        gpu = 0\n    load(gpu)\n", False),
        ("gpu", "    if gpu is None:\n        print()\n    load(gpu)\n", True),
        ("gpu=None", "    if gpu is not None:\n        load(gpu)\n", False),
        ("gpu=None", "    if gpu_count:\n        load(gpu)\n", True),
        ("a, gpu", "    a.gpu = gpu\n    print(a.gpu is not None)\n    load(gpu)\n", True),
    ],
)
def test_what_the_code_asks_of_a_number_says_if_it_may_be_none(head: str, body: str, expected: bool) -> None:
    file = File("m.py", f"def f({head}):\n{body}".encode())
    assert may_be_none(file, file.find(file.module, "load(gpu)")[0], "gpu") is expected
