"""Which device a name spells out in the end, and where its letters stand; both only where nothing else can be meant."""

from __future__ import annotations

import libcst as cst
import pytest
from mismatch_factory import main

from devfix.sdk import File, literal_device, literal_node, named_device


def call_of(source: str) -> tuple[File, cst.Call]:
    """The file, and the outermost call of its last line."""
    file = main(source)
    calls = [each for each in file.within(file.module) if isinstance(each, cst.Call)]
    return file, next(each for each in calls if file.line_of(each) == file.line_of(calls[-1]))


@pytest.mark.parametrize(
    ("source", "device", "letters"),
    [
        ("x.to('cuda')", "cuda", "'cuda'"),
        ("x.to('cuda:12')", "cuda:12", "'cuda:12'"),
        ("x.to('cpu')", "cpu", "'cpu'"),
        ("x.to('meta')", "", ""),
        ("x.to(b'cpu')", "", ""),
        ("x.to('cpu' if a else 'cuda:1')", "cuda:1", ""),
        ("x.to('cuda' if a else 'cpu')", "cuda", ""),
        ("x.to('cuda:0' if a else 'cuda:1')", "cuda:0", ""),
        ("a = 'cuda'\nd = torch.device(a)\nx.to(d)", "cuda", "'cuda'"),
        ("x.to(device='cpu')", "cpu", "'cpu'"),
        ("x.to('cuda' if a else pick())", "", ""),
        ("x.to(pick() if a else b)", "", ""),
        ("x.to(d or 'cpu')", "cpu", ""),
        ("x.to(a and d)", "", ""),
        ("d = 'cpu'\nx.to(a or d)", "cpu", ""),
        ("d = torch.device('cuda')\nx.to(d)", "cuda", "'cuda'"),
        ("d = torch.device('cuda', 1)\nx.to(d)", "cuda:1", ""),
        ("d = torch.device('cuda', index=1)\nx.to(d)", "cuda:1", ""),
        ("d = torch.device('cuda', i)\nx.to(d)", "cuda", ""),
        ("d = torch.device(k, 1)\nx.to(d)", "", ""),
        ("d = torch.device()\nx.to(d)", "", ""),
        ("d = where('cuda')\nx.to(d)", "", ""),
        ("a = 'cpu'\nb = a\nc = b\nd = c\nx.to(d)", "cpu", "'cpu'"),
        ("z = 'cpu'\na = z\nb = a\nc = b\nd = c\nx.to(d)", "", ""),
        ("a = 'cpu'\nb = a or q\nc = q or b\nd = torch.device(c)\nx.to(d)", "", ""),
        ("a = 'cpu'\nb = a\nc = q or b\nd = torch.device(c)\nx.to(d)", "cpu", ""),
        ("a = 'cpu'\nb = a if a else a\nc = b\nd = c\nx.to(d)", "cpu", ""),
        ("z = 'cpu'\na = z\nb = a if a else a\nc = b\nd = c\nx.to(d)", "", ""),
        ("z = 'cpu'\na = z\nb = torch.device(a)\nc = b\nd = c\nx.to(d)", "", ""),
        ("z = 'cpu'\na = z\nb = q or a\nc = b\nd = c\nx.to(d)", "", ""),
        ("d = 'cpu'\nd = 'cuda'\nx.to(d)", "", ""),
        ("d: str = 'cpu'\nx.to(d)", "cpu", "'cpu'"),
        ("d: str\nx.to(d)", "", ""),
        ("def f():\n  d = 'cpu'\nx.to(d)", "", ""),
        ("d = 'cpu'\ndef f():\n  x.to(d)", "cpu", "'cpu'"),
        ("d = 'cpu'\ndef f():\n  d = 'cuda'\n  x.to(d)", "cuda", "'cuda'"),
        ("def f(x, d='cuda'):\n  x.to(d)", "cuda", ""),
        ("def f(x, d='cuda', /):\n  x.to(d)", "cuda", ""),
        ("def f(x, *, d='cuda'):\n  x.to(d)", "cuda", ""),
        ("d = 'cpu'\ndef f(x, d):\n  x.to(d)", "", ""),
        ("def f(x, d='cuda'):\n  d = 'cpu'\n  x.to(d)", "", ""),
        ("def f(x, d):\n  d = 'cpu'\n  x.to(d)", "cpu", "'cpu'"),
        ("args.d = 'cpu'\ndef f(x):\n  x.to(args.d)", "cpu", "'cpu'"),
        ("class A:\n  def g(self):\n    self.d = 'cpu'\n  def f(self, x):\n    x.to(self.d)", "cpu", "'cpu'"),
        ("class A:\n  def g(self):\n    self.d = 'cpu'\nclass B:\n  def f(self, x):\n    x.to(self.d)", "", ""),
        ("class A:\n  def g(self):\n    o.d = 'cpu'\nclass B:\n  def f(self, x):\n    x.to(o.d)", "cpu", "'cpu'"),
        ("x.to(y.device)", "", ""),
        ("x.to(3)", "", ""),
    ],
)
def test_a_device_is_followed_to_its_letters(source: str, device: str, letters: str) -> None:
    file, call = call_of(source + "\n")
    node = call.args[0].value
    assert literal_device(file, node) == device
    found = literal_node(file, node)
    assert (file.code(found) if found is not None else "") == letters


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("x.cuda()", "cuda"),
        ("x.cpu()", "cpu"),
        ("x.cuda(1)", "cuda:1"),
        ("x.cuda(i)", ""),
        ("x.cuda('cuda:1')", "cuda:1"),
        ("x.to(1)", ""),
        ("x.to('cpu')", "cpu"),
        ("x.to(torch.half)", ""),
        ("torch.zeros(3, device='cuda')", "cuda"),
        ("torch.zeros('cuda')", ""),
        ("torch.Generator('cuda')", "cuda"),
        ("torch.device('cuda')", "cuda"),
    ],
)
def test_the_device_that_a_call_spells_out(source: str, named: str) -> None:
    file, call = call_of(source + "\n")
    assert named_device(file, call) == named
