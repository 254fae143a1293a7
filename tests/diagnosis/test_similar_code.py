"""After a fix, the same fault elsewhere is shown, and nothing that would not hold there."""

from devfix.diagnosis.similar_code import similar_sites
from devfix.model import Edit, Patch, Safety

BEFORE = """import torch


def encode(x):
    return x + torch.arange(x.size(1))


def decode(x, n):
    steps = torch.zeros(n)
    other = torch.ones(n, device="cpu")
    return x + torch.arange(x.size(1)), steps, other


def count(y):
    return torch.zeros(3)
"""
LINE = "    return x + torch.arange(x.size(1))\n"
AFTER = BEFORE.replace(LINE, LINE.replace("(1))", "(1), device=x.device)"), 1)
COPY = BEFORE.replace("decode", "translate")
FOREIGN = "import torch\n\n\ndef encode(z):\n    return x + torch.arange(x.size(1))\n"


def changed(patch: Patch, files: dict[str, str]) -> list[tuple[str, str]]:
    found = similar_sites(
        patch,
        lambda path: files[path].encode() if path in files else None,
        lambda texts: [path for path, code in files.items() if any(text in code for text in texts)],
    )
    lines = []
    for edit in found:
        assert edit.before == files[edit.path].encode()
        new = set(edit.after.decode().splitlines()) - set(edit.before.decode().splitlines())
        lines.append((edit.path, new.pop().strip()))
    return lines


def patch_of(before: str, after: str) -> Patch:
    return Patch("p/r", "", "", Safety.SAFE, (Edit("m.py", 5, before.encode(), after.encode()),))


def test_shows_copies_and_siblings_that_lack_the_same() -> None:
    found = changed(patch_of(BEFORE, AFTER), {"m.py": AFTER, "copy.py": COPY, "other.txt": COPY})
    assert ("copy.py", "return x + torch.arange(x.size(1), device=x.device)") in found
    assert ("m.py", "steps = torch.zeros(n, device=x.device)") in found
    assert ("m.py", "return x + torch.arange(x.size(1), device=x.device), steps, other") in found
    assert not any("torch.zeros(3" in line or "cpu" in line for _, line in found)


def test_shows_nothing_where_a_name_of_the_new_line_is_not_bound() -> None:
    before = BEFORE.replace("torch.arange(x.size(1))", "torch.arange(4)")
    after = before.replace("torch.arange(4)", "torch.arange(4, device=x.device)", 1)
    foreign = FOREIGN.replace("torch.arange(x.size(1))", "torch.arange(4)").replace("return x", "return z")
    assert ("f.py", "return z") not in changed(patch_of(before, after), {"m.py": after, "f.py": foreign})
    copies = [path for path, _ in changed(patch_of(before, after), {"m.py": after, "f.py": foreign})]
    assert "f.py" not in copies


def test_functions_of_other_libraries_with_the_name_of_a_factory_are_left_alone() -> None:
    others = "    steps = [torch.ones(n) for each in range(n)], np.zeros(n), zeros(n)\n"
    imports = "import numpy as np\nimport torch\nfrom torch import zeros\n"
    before = BEFORE.replace("import torch\n", imports).replace("    steps = torch.zeros(n)\n", others)
    after = before.replace(LINE, LINE.replace("(1))", "(1), device=x.device)"), 1)
    lines = [line for _, line in changed(patch_of(before, after), {"m.py": after})]
    line = others.strip()
    assert line.replace("torch.ones(n)", "torch.ones(n, device=x.device)") in lines
    assert line.replace(", zeros(n)", ", zeros(n, device=x.device)") in lines
    assert not [each for each in lines if "range(n, " in each or "np.zeros(n, " in each]


def test_shows_nothing_after_a_line_that_was_only_inserted() -> None:
    after = BEFORE.replace(LINE, "    x = x.to(torch.float32)\n" + LINE, 1)
    assert changed(patch_of(BEFORE, after), {"m.py": after, "copy.py": COPY}) == []


CLASSES = """import torch


class First:
    def __init__(self, net):
        self.net = net

    def noise(self, n):
        return torch.zeros(n)


class Second:
    def noise(self, n):
        return torch.ones(n)

    def labels(self, n):
        return torch.full((n, 1), 1.0)
"""


def test_shows_nothing_in_a_class_without_the_attribute_of_the_new_line() -> None:
    after = CLASSES.replace("torch.zeros(n)", "torch.zeros(n, device=self.net.weight.device)", 1)
    assert changed(patch_of(CLASSES, after), {"m.py": after}) == []
    both = CLASSES.replace("class Second:\n", "class Second:\n    def __init__(self, net):\n        self.net = net\n\n")
    after = both.replace("torch.zeros(n)", "torch.zeros(n, device=self.net.weight.device)", 1)
    shown = [line for _, line in changed(patch_of(both, after), {"m.py": after})]
    assert sorted(shown) == [
        "return torch.full((n, 1), 1.0, device=self.net.weight.device)",
        "return torch.ones(n, device=self.net.weight.device)",
    ]
    copied = both.replace("First", "Third").replace("self.net = net", "self.network = net")
    files = {"m.py": after, "copy.py": copied}
    assert not [path for path, _ in changed(patch_of(both, after), files) if path == "copy.py"]


MODULE = """import torch


class Net(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.scale = torch.ones(n)
        self.device = torch.device("cpu")

    def reset(self, n):
        self.register_buffer("table", torch.zeros(n))
        self.weight = torch.nn.Parameter(torch.randn(n))
        self.bias = torch.zeros(n)

    def forward(self, x):
        return x + torch.arange(x.size(1))
"""


def test_shows_nothing_that_a_constructor_could_not_read_or_a_module_moves_itself() -> None:
    after = MODULE.replace("(1))", "(1), device=self.device)")
    found = changed(patch_of(MODULE, after), {"m.py": after})
    assert found == [("m.py", "self.bias = torch.zeros(n, device=self.device)")]


WIDE = """import torch


class Attention:
    def train(self, values):
        index = torch.arange(values.shape[3]).repeat(values.shape[0], 1).cuda()
        return values.gather(0, index)

    def infer(self, values):
        if values.ndim:
            index = torch.arange(values.shape[3]).repeat(values.shape[0], 1).cuda()
        return values.gather(0, index), torch.zeros(values.shape[0], values.shape[1])
"""
LONG = "index = torch.arange(values.shape[3]).repeat(values.shape[0], 1)"


def test_shows_copies_of_a_line_that_the_fix_has_wrapped() -> None:
    wrapped = f"{LONG[:-22]}(\n            values.shape[0], 1\n        ).to(values.device)\n"
    after = WIDE.replace(f"{LONG}.cuda()\n", wrapped, 1)
    (found,) = similar_sites(patch_of(WIDE, after), lambda path: after.encode(), lambda texts: ["m.py"])
    assert found.line == 13
    indented = wrapped.replace("\n    ", "\n        ")
    assert found.after.decode() == after.replace(f"{LONG}.cuda()\n", indented)


def test_shows_siblings_of_a_call_that_the_fix_has_wrapped() -> None:
    call = "torch.arange(values.shape[3])"
    after = WIDE.replace(call, "torch.arange(\n            values.shape[3], device=values.device,\n        )", 1)
    found = changed(patch_of(WIDE, after), {"m.py": after})
    assert any("torch.zeros(values.shape[0], values.shape[1], device=values.device)" in line for _, line in found)
