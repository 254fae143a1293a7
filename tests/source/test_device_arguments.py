"""How code names a device is read and changed as people write it."""

import libcst as cst
import pytest

from devfix.sdk import (
    File,
    code,
    device_text,
    expression,
    literal_device,
    named_device,
    replace_device,
    with_constant,
)


def call(text: str) -> cst.Call:
    return cst.ensure_type(expression(text), cst.Call)


@pytest.mark.parametrize(
    ("text", "named", "after"),
    [
        ("x.cuda()", '"cuda"', "x.to(d)"),
        ("x.cuda(1)", "1", "x.to(d)"),
        ("x.cuda(device=i, non_blocking=True)", "i", "x.to(d, non_blocking=True)"),
        ("x.cpu()", '"cpu"', "x.to(d)"),
        ("x.to('cuda')", "'cuda'", "x.to(d)"),
        ("x.to(device, torch.half)", "device", "x.to(d, torch.half)"),
        ("x.to(torch.half)", "", "x.to(torch.half, device=d)"),
        ("x.to(device=self.half)", "self.half", "x.to(device=d)"),
        ("x.cuda(0, True)", "0", "x.to(d, True)"),
        ("torch.zeros(3, 4)", "", "torch.zeros(3, 4, device=d)"),
        ("torch.zeros(3, device=x.device)", "x.device", "torch.zeros(3, device=d)"),
        ("torch.zeros(3)", "", "torch.zeros(3, device=d)"),
        ("torch.Generator('cuda')", "'cuda'", "torch.Generator(d)"),
        ("torch.Generator()", "", "torch.Generator(device=d)"),
    ],
)
def test_the_device_of_a_call_is_read_and_replaced(text: str, named: str, after: str) -> None:
    assert device_text(call(text)) == named
    assert code(replace_device(call(text), "d")) == after


@pytest.mark.parametrize(
    ("source", "spelt"),
    [
        ('d = "cuda:0"\nx.to(d)\n', "cuda:0"),
        ('d = torch.device("cuda", 1)\nx.to(d)\n', "cuda:1"),
        ('d = "cuda" if torch.cuda.is_available() else "cpu"\nx.to(d)\n', "cuda"),
        ("x.cuda(1)\n", "cuda:1"),
        ('d = "cuda"\nd = pick()\nx.to(d)\n', ""),
        ("d = pick()\nx.to(d)\n", ""),
        ('def f(x, d="cuda"):\n    return x.to(d)\n', "cuda"),
        ('def f(x, d="cuda"):\n    d = pick()\n    return x.to(d)\n', ""),
        ('d = "cuda"\ndef f(x, d):\n    return x.to(d)\n', ""),
        ("x.to(y.device)\n", ""),
    ],
)
def test_a_device_is_spelt_out_only_where_nothing_else_can_be_meant(source: str, spelt: str) -> None:
    file = File("m.py", source.encode())
    calls = [each for each in file.within(file.module) if isinstance(each, cst.Call)]
    placing = next(each for each in calls if file.code(each).startswith("x."))
    assert named_device(file, placing) == spelt


def test_names_that_go_in_a_circle_spell_out_nothing() -> None:
    file = File("m.py", b"a = b\nb = a\nx.to(a)\n")
    assert literal_device(file, file.find(file.module, "a")[-1]) == ""


def test_a_constant_stands_behind_the_imports_and_in_front_of_what_uses_it() -> None:
    file = File("m.py", b'"""Text."""\nimport os\nimport torch\n\n\ndef f():\n    import sys\n')
    assert with_constant(file, "d = 1").code == (
        '"""Text."""\nimport os\nimport torch\n\nd = 1\n\n\ndef f():\n    import sys\n'
    )
