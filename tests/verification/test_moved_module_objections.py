"""What speaks against moving what code keeps on the host on purpose: layers that take turns, tables of lookups."""

from __future__ import annotations

from dataclasses import replace

import pytest
from objection_cases import found, strengths
from sample_report import failure

from devfix.model import Event, NameRef, Operand, SourceLocation

DEEP = """import torch

class Deep(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(3))

{method}
def make():
    return Deep()
"""
STREAMED = """    def forward(self, x, device):
        for layer in self.layers:
            layer.to(device)
            x = layer(x)
            layer.{back}
        return x
"""
WHOLE = ("return Deep()", "return Deep().to(device)")


@pytest.mark.parametrize(
    ("back", "expected"),
    [("cpu()", ["strong"]), ("to('cpu')", ["strong"]), ("to(torch.device('cpu'))", ["strong"]), ("eval()", [])],
)
def test_a_module_whose_layers_take_turns_on_the_gpu(back: str, expected: list[str]) -> None:
    assert strengths(DEEP.format(method=STREAMED.format(back=back)), WHOLE) == expected


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("for number, layer in enumerate(net.layers):\n        layer.cuda()\n        layer.cpu()\n", ["strong"]),
        ("for layer in net.layers:\n        layer.cpu()\n", []),  # none comes back to a GPU
        ("for layer in net.others:\n        layer.cuda()\n        layer.cpu()\n", []),
        ("net.cuda()\n    net.cpu()\n", []),
    ],
)
def test_code_that_runs_a_module_layer_by_layer(loop: str, expected: list[str]) -> None:
    other = {"run.py": f"def run(net, x):\n    {loop}"}
    assert strengths(DEEP.format(method=""), WHOLE, other) == expected


ONLOAD = """@contextmanager
def onload(module, device):
    module.to(device)
    try:
        yield module
    finally:
        module.to("cpu")
"""
HOOKS = """def onload(module, device):
    def before(module, args):
        module.to(device)

    def after(module, args, output):
        module.to("cpu")

    module.register_forward_pre_hook(before)
    module.register_forward_hook(after)
"""
MANAGER = """class onload:
    def __init__(self, module, device):
        self.module = module
        self.device = device

    def __enter__(self):
        self.module.to(self.device)

    def __exit__(self, *error):
        self.module.cpu()
"""
GUIDED = """    def forward(self, x):
        for layer in self.{parts}:
            with onload(layer, x.device):
                x = layer(x)
        return x
"""


@pytest.mark.parametrize("helper", [ONLOAD, HOOKS, MANAGER])
@pytest.mark.parametrize(("parts", "expected"), [("layers", ["strong"]), ("others", [])])
def test_a_helper_that_brings_a_layer_to_the_gpu_and_back(helper: str, parts: str, expected: list[str]) -> None:
    others = {"offload.py": helper}
    assert strengths(DEEP.format(method=GUIDED.format(parts=parts)), WHOLE, others) == expected
    for back in ('.to("cpu")', ".cpu()"):
        others = {"offload.py": helper.replace(back, ".eval()")}
        assert back not in helper or strengths(DEEP.format(method=GUIDED.format(parts=parts)), WHOLE, others) == []


TABLE = """import torch

class Words(torch.nn.Module):
    def __init__(self, device):
        super().__init__()
        self.table = torch.zeros(9, 4)

    def forward(self, ids):
        return self.table[ids]

    def first(self, ids):
        return {read}
"""
CREATED = ("torch.zeros(9, 4)", "torch.zeros(9, 4, device=device)")
BUFFER = ("self.table = torch.zeros(9, 4)", 'self.register_buffer("table", torch.zeros(9, 4), persistent=False)')


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        ("self.table[ids.cpu()]", ["strong"]),
        ("self.table(ids.to('cpu'))", ["strong"]),
        ("self.table[ids].to(device)", ["weak"]),
        ("self.table.to(device)[ids]", []),
        ("self.other[ids.cpu()]", []),
    ],
)
def test_a_table_that_is_asked_on_the_host(read: str, expected: list[str]) -> None:
    assert strengths(TABLE.format(read=read), CREATED) == expected
    assert strengths(TABLE.format(read=read), BUFFER) == expected


def test_a_caller_that_asks_a_table_on_the_host() -> None:
    other = {"ask.py": "from net import Words\nwords = Words(None)\nrow = words.table[ids.cpu()]\n"}
    (objection,) = found(TABLE.format(read="ids"), CREATED, other)
    assert objection.reason == "ask.py:3: `words.table[ids.cpu()]` takes `table` to be on the host"


OFFLOADED = """import torch

class Optimizer:
    def __init__(self, params):
        self.params = list(params)
        self.state = [torch.zeros(p.shape) for p in self.params]

    def step(self):
        for {loop}:
            {body}
            p.sub_({taken})
"""
ON_ITS_DEVICE = ("torch.zeros(p.shape)", "torch.zeros(p.shape, device=p.device)")


@pytest.mark.parametrize(
    ("loop", "body", "taken", "expected"),
    [
        ("p, m in zip(self.params, self.state)", "m.mul_(0.9)", "m.to(p.device)", ["strong"]),
        ("p, m in zip(self.params, self.state)", "m += p.grad.cpu()", "m.to(p.device)", ["strong"]),
        ("p, m in zip(self.params, self.state)", "pass", "m.to(p.device)", ["weak"]),
        ("p, m in zip(self.params, self.state)", "m.mul_(0.9)", "m", []),
        ("p, m in zip(self.params, self.state)", "m = m.to(p.device)", "m", []),
        ("i, m in enumerate(self.state)", "p = self.params[i]", "m.to(p.device)", ["weak"]),
        ("m in self.state", "p = other", "m.cuda()", ["weak"]),
        ("p, m in zip(self.state, self.params)", "pass", "m.to(p.device)", []),
    ],
)
def test_what_a_loop_moves_by_hand_is_kept_on_the_host(loop: str, body: str, taken: str, expected: list[str]) -> None:
    assert strengths(OFFLOADED.format(loop=loop, body=body, taken=taken), ON_ITS_DEVICE) == expected


SAYING = """import torch

class Table(torch.nn.Module):
    \"\"\"{}\"\"\"

    def __init__(self, rows):
        super().__init__()
        self.table = torch.zeros(rows, 8)

    def forward(self, ids):
        return self.table[ids]
"""
REGISTERED = (
    "self.table = torch.zeros(rows, 8)",
    'self.register_buffer("table", torch.zeros(rows, 8), persistent=False)',
)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("A table of 400 GB: it stays on the host, rows are fetched.", ["strong"]),
        ("Keeps its rows in host memory,\n    since the GPU has no room for them.", ["strong"]),
        ("A table that does not fit on a GPU.", ["strong"]),
        ("A table, too large for one GPU.", ["strong"]),
        ("A table, pinned when there is a GPU. It is larger than its memory.", ["strong"]),
        ("A table, larger than the memory of a GPU.", ["strong"]),
        ("Looks rows up, on the host or on a GPU.", []),
        ("A table that stays small. On the CPU it is slow.", []),
        ("Counts of pairs. The counts are on the CPU, so that a rank can send them by gloo.", ["strong"]),
        ("Vectors of all documents. They are larger than a GPU: the configuration says where they are.", ["strong"]),
        ("Copies the table if it is on the CPU, because the ids are not.", []),
        ("The table is on the CPU.", []),  # as it is now, by mistake
        ("A table with its rows in host memory.", ["strong"]),
        ("Looks rows up on the CPU, to save memory of the GPU.", ["strong"]),
        ("A mean over all ranks: the group is of gloo, so what it reduces is on the CPU.", ["strong"]),
        ("Moves rows that are in host memory to the device of the ids.", []),
        ("Looks rows up in host memory when there is no GPU.", []),
        ("A table of counts. Rows are updated by the loader, on the host.", ["strong"]),
        ("A table whose rows are created on the host.", []),
        ("A table; rows are summed first on the CPU.", []),
    ],
)
def test_what_a_class_says_of_its_state(words: str, expected: list[str]) -> None:
    assert strengths(SAYING.format(words), REGISTERED) == expected
    moved = ("self.table[ids]", "self.table.to(ids.device)[ids]")
    assert strengths(SAYING.format(words), moved) == expected
    assert found(SAYING.format(words), ("self.table[ids]", "self.table[ids].to(ids.device)")) == []


def test_what_an_optimizer_says_of_the_state_of_each_parameter() -> None:
    text = (
        'import torch\n\nclass Adam(torch.optim.Optimizer):\n    """{}"""\n\n    def begin(self, state, p):\n'
        '        state["mean"] = torch.zeros(p.shape, device="cpu")\n'
    )
    change = ('device="cpu"', "device=p.device")
    assert strengths(text.format("Adam with its averages in host memory."), change) == ["strong"]
    assert strengths(text.format("Adam with two averages."), change) == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("Counts pairs. The counts are on the CPU, so that a rank can send them.", ["strong"]),
        ("The ids stay on the host.", []),
        ("Pairs of ids. They are larger than a GPU.", []),
    ],
)
def test_what_a_class_says_of_an_attribute_that_others_move(words: str, expected: list[str]) -> None:
    pairs = (
        f'class Pairs:\n    """{words}"""\n\n    def __init__(self):\n        self.ids = self.counts = torch.ones(2)\n'
    )
    main = "import torch\nfrom pairs import Pairs\n\ndef main(device):\n    pairs = Pairs()\n    return pairs\n"
    moved = ("    return pairs\n", "    pairs.counts = pairs.counts.to(device)\n    return pairs\n")
    assert strengths(main, moved, {"pairs.py": f"import torch\n\n{pairs}"}) == expected


MAKES = """import torch

def embed(net, batches):
    \"\"\"{}\"\"\"
    return torch.cat([net(each).cpu() for each in batches])

def centroid(embeddings, weights):
    return embeddings * weights
"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [("Embeddings of all batches, on the host: they do not fit on a GPU together.", ["strong"]), ("Embed.", [])],
)
def test_what_a_function_says_of_its_result(words: str, expected: list[str]) -> None:
    moved = Event("move", "aten::_to_copy", "cpu", (SourceLocation("net.py", 5, "embed", owned=True),))
    operand = Operand("self", "cpu", "torch.float32", (4,), (NameRef(0, "embeddings"),), (moved,))
    failed = replace(failure(), operands=(operand,))
    change = ("embeddings * weights", "embeddings.to(weights.device) * weights")
    assert strengths(MAKES.format(words), change, failed=failed) == expected
    assert strengths(MAKES.format(words), ("embeddings * weights", "embeddings * weights.cpu()"), failed=failed) == []


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("on the host: the workers read it", ["strong"]),
        ("stays on CPU", ["strong"]),
        ("CPU-only", ["strong"]),
        ("8 columns", []),
        ("made on the CPU, moved later", []),
        ("TODO: this is on the CPU", []),
    ],
)
def test_what_a_comment_says_of_an_attribute(comment: str, expected: list[str]) -> None:
    line, (old, new) = "self.table = torch.zeros(rows, 8)", REGISTERED
    text = SAYING.format("Looks rows up.")
    beside = (f"{old}  # {comment}", f"{new}  # {comment}")
    assert strengths(text.replace(line, beside[0]), beside) == expected
    assert strengths(text.replace(line, f"# {comment}\n        {line}"), REGISTERED) == expected
    assert found(text.replace(line, beside[0]), ("self.table[ids]", "self.table.to(ids.device)[ids]")) == []
