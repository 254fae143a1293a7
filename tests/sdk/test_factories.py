"""A device that a constructor is given and does not pass on to a factory."""

from __future__ import annotations

import pytest
from mismatch_factory import after, meeting, place, tensor, use_site

from devfix.model import ScopeVariable, SourceLocation
from devfix.sdk import FixSite, Sources, has_device_name
from devfix.sdk.fixes.factories import add_device_argument, device_parameter

CODE = """class Waves(nn.Module):
    def __init__(self, size, /, device=None, *, home=None):
        self.waves = torch.zeros(size)

DEVICE = choose()
"""
CREATED = place(CODE, "torch.zeros(size)", "Waves.__init__")
SOURCE = Sources({"main.py": CODE.encode()}.get)


def parameter_at(*scope: ScopeVariable, at: SourceLocation = CREATED, device: str = "cuda:0") -> str:
    return device_parameter(FixSite("creation", at, scope), device, SOURCE)


@pytest.mark.parametrize("name", ["device", "home", "size"])
def test_a_parameter_tells_a_device(name: str) -> None:
    assert parameter_at(ScopeVariable(name, "device", "cuda:0")) == name
    assert parameter_at(ScopeVariable(name, "string", "cuda")) == name, "without a number it is the current GPU"
    assert parameter_at(ScopeVariable(name, "index", "cuda:0")) == name
    assert parameter_at(ScopeVariable(name, "device", "cpu"), ScopeVariable(name, "device", "cuda:1")) == ""


def test_what_else_lies_there_tells_nothing() -> None:
    assert parameter_at(tensor("device", "cuda:0"), ScopeVariable("device", "module", "cuda:0")) == ""
    assert (
        parameter_at(ScopeVariable("DEVICE", "device", "cuda:0"), ScopeVariable("self.device", "device", "cuda:0"))
        == ""
    )
    assert (
        parameter_at(ScopeVariable("DEVICE", "device", "cuda:0"), ScopeVariable("home", "string", "cuda:0")) == "home"
    )
    assert parameter_at() == ""


def test_only_a_function_of_a_known_file_is_told_anything() -> None:
    device = ScopeVariable("device", "device", "cuda:0")
    for name in ("Waves", "<module>", "other"):
        assert parameter_at(device, at=place(CODE, "DEVICE = choose()", name)) == ""
    assert parameter_at(device, at=place(CODE, "torch.zeros(size)", "Waves.__init__", "other.py")) == ""


def test_any_name_for_the_device_in_scope_counts() -> None:
    for binding in (ScopeVariable("DEVICE", "device", "cuda:0"), ScopeVariable("self.home", "string", "cuda")):
        failure = meeting(CODE, "torch.zeros(size)", scope=[binding], function="Waves.__init__")[0].failure
        assert has_device_name(failure, CREATED, "cuda:0") and not has_device_name(failure, CREATED, "cpu")
        assert not has_device_name(failure, place(CODE, "choose()", "other"), "cuda:0")
    assert not has_device_name(
        meeting(CODE, "torch.zeros(size)", scope=[tensor("y", "cuda:0")])[0].failure, CREATED, "cuda:0"
    )


@pytest.mark.parametrize(
    ("line", "together"),
    [
        (
            "torch.zeros(2).add_(x, torch.ones(2))",
            "torch.zeros(2, device=x.device).add_(x, torch.ones(2, device=x.device))",
        ),
        ("x.where(x > 0, torch.zeros(2))", "x.where(x > 0, torch.zeros(2, device=x.device))"),
        (
            "torch.cat([torch.zeros(2), torch.ones(2)])",
            "torch.cat([torch.zeros(2, device=x.device), torch.ones(2, device=x.device)])",
        ),
        (
            "torch.zeros(2).numpy().dot(table(torch.ones(2)))",
            "torch.zeros(2, device=x.device).numpy().dot(table(torch.ones(2)))",
        ),
    ],
)
def test_factories_of_one_call_are_given_the_device_together(line: str, together: str) -> None:
    code = f"def f(x):\n    return {line}\n"
    diagnosis, source = meeting(code, "torch.zeros(2)")
    changes = [after(each) for each in add_device_argument(diagnosis, use_site(diagnosis, kind="creation"), source)]
    assert changes[0] == code.replace(line, together)
    assert changes[-1] == code.replace("torch.zeros(2)", "torch.zeros(2, device=x.device)")
