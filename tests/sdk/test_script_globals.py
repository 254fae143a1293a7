"""A variable of the script is no name for a device in a method that reads an attribute of the same name."""

from __future__ import annotations

from mismatch_factory import meeting, tensor, use_site

from devfix.model import ScopeVariable
from devfix.sdk.fixes.device_expressions import device_expressions

CODE = """x = load()
class Model:
    def loss(self, mask):
        return self.x + mask
"""


def names_for(code: str, failing: str) -> list[str]:
    scope = [tensor("x", "cuda:0"), tensor("self.x", "cuda:0")]
    diagnosis, source = meeting(code, failing, scope=scope)
    file = source.file(diagnosis.failure.frames[0].place)
    assert file is not None
    return device_expressions(diagnosis, use_site(diagnosis), file)


def test_an_attribute_is_preferred_to_the_variable_of_that_name() -> None:
    assert names_for(CODE, "self.x + mask") == ["self.x.device"]


def test_a_variable_that_the_method_reads_counts() -> None:
    code = CODE.replace("self.x + mask", "self.x + mask * x")
    assert names_for(code, "self.x + mask")[0] == "x.device"


def test_a_lambda_follows_its_parameter_and_not_a_variable_that_it_does_not_read() -> None:
    code = "device = choose()\nfor scale in scales(device=device):\n    heads.append(lambda x, s=scale: x * s)\n"
    scope = [tensor("x", "cuda:0"), ScopeVariable("device", "string", "cuda", "str")]
    diagnosis, source = meeting(code, "x * s", scope=scope)
    file = source.file(diagnosis.failure.frames[0].place)
    assert file is not None
    assert device_expressions(diagnosis, use_site(diagnosis), file)[0] == "x.device"


def test_an_attribute_that_a_method_moves_late_says_little() -> None:
    late = CODE + "    def __init__(self, net):\n        self.net = net\n"
    late += "    def add(self, value):\n        self.x = self.x.to(value.device)\n"
    weight = tensor("self.net.weight", "cuda:0", type="torch.nn.parameter.Parameter")
    diagnosis, source = meeting(late, "self.x + mask", scope=[tensor("self.x", "cuda:0"), weight])
    file = source.file(diagnosis.failure.frames[0].place)
    assert file is not None
    assert device_expressions(diagnosis, use_site(diagnosis), file)[0] == "self.net.weight.device"
