"""Failures in the trace: kinds, operands, names, owners, creations; each by a real program in a real world."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from networks import NET


def test_an_input_that_was_not_moved(trace_program: Any) -> None:
    ran = trace_program(NET)
    failure = ran.failure
    assert (failure["kind"], failure["exception"], failure["uncaught"]) == ("device-mismatch", "RuntimeError", True)
    assert failure["op"] == "aten::index_select"
    index = ran.operand("index")
    assert (index["device"], index["dtype"], index["owner"]) == ("cpu", "torch.int64", None)
    owned = [frame for frame in failure["frames"] if frame["place"]["path"].endswith("program.py")]
    assert [ran.text(frame["place"]) for frame in owned] == [
        'main(torch.device("cuda"))',
        'net(batch["ids"])',
        "self.embedding(ids)",
    ]
    names = {(failure["frames"][name["frame"]]["place"]["function"], name["expression"]) for name in index["names"]}
    assert names == {("main", 'batch["ids"]'), ("Net.forward", "ids")}
    assert ran.creation("index") == "torch.tensor([[1, 2, 3]])"
    weight = ran.operand("self")
    assert weight["owner"]["attribute"] == "weight" and weight["owner"]["kind"] == "parameter"
    assert weight["owner"]["expression"] == "self.embedding"
    assert weight["owner"]["qualified_type"] == "torch.nn.modules.sparse.Embedding"
    assert [event["kind"] for event in weight["history"]] == ["factory", "parameter", "move"]
    assert ran.text(weight["history"][-1]["places"][0]) == "Net().to(device)"
    assert [event["device"] for event in weight["history"]] == ["cpu", "cpu", "cuda:0"]


def test_frames_hold_what_is_in_scope(trace_program: Any) -> None:
    ran = trace_program(NET)
    main = next(frame for frame in ran.failure["frames"] if frame["place"]["function"] == "main")
    scope = {binding["expression"]: (binding["kind"], binding["device"]) for binding in main["scope"]}
    assert scope["device"] == ("device", "cuda")
    assert scope["net"] == ("module", "cuda:0")
    assert scope["net.scale"] == ("tensor", "cpu")
    assert scope["net.shift"] == ("tensor", "cuda:0")
    assert scope['batch["ids"]'] == ("tensor", "cpu")


def test_an_attribute_that_to_does_not_see(trace_program: Any) -> None:
    ran = trace_program(
        NET.replace(
            "return self.head(",
            "ids = ids.to('cuda')\n        return self.scale * self.head(self."
            "embedding(ids)) if False else self.scale + (",
        ).replace("(self.embedding(ids))\n\ndef", "(self.embedding(ids))\n\ndef")
    )
    owner = ran.operand("self")["owner"]
    assert (owner["attribute"], owner["kind"], owner["type"]) == ("scale", "attribute", "Net")


@pytest.mark.parametrize(
    ("statement", "kind", "argument", "creation"),
    [
        ("x + torch.ones(3)", "device-mismatch", "other", "torch.ones(3)"),
        ("x.add_(torch.rand(3))", "device-mismatch", "other", "torch.rand(3)"),
        ("torch.stack([x, torch.full((3,), 2.0)])", "device-mismatch", "tensors[1]", "torch.full((3,), 2.0)"),
        ("x + torch.from_numpy(np.ones(3))[None]", "device-mismatch", "other", "torch.from_numpy(np.ones(3))"),
        ("torch.where(x > 0, x, torch.zeros_like(h))", "device-mismatch", "other", "torch.zeros_like(h)"),
        ("x @ torch.eye(3)", "device-mismatch", "mat2", "torch.eye(3)"),
        ("h[torch.tensor([0, 1]).cuda()]", "index-device", "indices[0]", "torch.tensor([0, 1])"),
        ("(x * 2).numpy()", "numpy-on-device", "self", 'torch.ones(3, device="cuda")'),
        ("x[u > 0] = torch.arange(3.0)[:2]", "device-mismatch", "values", "torch.arange(3.0)"),
    ],
)
def test_creations_to_the_column(trace_program: Any, statement: str, kind: str, argument: str, creation: str) -> None:
    prelude = (
        'import torch\nimport numpy as np\nx = torch.ones(3, device="cuda")\nh = torch.ones(3)\nu = torch.ones(3)\n'
    )
    ran = trace_program(f"{prelude}{statement}\n")
    assert ran.failure["kind"] == kind
    assert creation in {each["argument"]: ran.creation(each["argument"]) for each in ran.failure["operands"]}[argument]
    frame = ran.failure["frames"][-1]["place"]
    assert ran.text(frame).strip() in statement


def test_two_factories_on_one_line_are_told_apart(trace_program: Any) -> None:
    ran = trace_program("import torch\na, b = torch.ones(3).cuda(), torch.ones(3)\n(a, b)[0] + (a, b)[1]\n")
    first, second = (operand["history"] for operand in ran.failure["operands"])
    assert ran.text(first[-1]["places"][0]) == "torch.ones(3).cuda()"
    assert first[0]["places"][0]["column"] < second[0]["places"][0]["column"]


def test_creations_go_outward_through_owned_frames(trace_program: Any) -> None:
    ran = trace_program(
        """
        import torch
        def positions(n):
            return torch.arange(n)
        def run(x):
            return x + positions(len(x))
        run(torch.ones(3).cuda())
        """
    )
    places = ran.operand("other")["history"][0]["places"]
    assert [ran.text(place) for place in places] == [
        "torch.arange(n)",
        "positions(len(x))",
        "run(torch.ones(3).cuda())",
    ]


@pytest.mark.parametrize(
    ("line", "loop", "whole"),
    [
        ("for x in batches(): fail(x)", True, "x in batches(): fail(x)"),
        ("[fail(x) for x in batches()]", True, "fail(x) for x"),
        ("fail(next(batches()))", False, "next(batches())"),
    ],
)
def test_a_loop_that_asks_for_the_next_item_is_told_as_its_body(
    trace_program: Any, line: str, loop: bool, whole: str
) -> None:
    ran = trace_program(
        f"""
        import torch

        def batches():
            yield torch.zeros(3)

        def fail(x):
            return torch.ones(3, device="cuda") + x

        def main():
            {line}

        main()
        """
    )
    asked = ran.operand("other")["history"][0]["places"][1]
    assert asked["function"].startswith("main")
    assert (asked.get("loop", False), whole in ran.text(asked)) == (loop, True)


def test_a_failure_that_was_handled_is_told_as_such(trace_program: Any) -> None:
    ran = trace_program(
        'import torch\ntry:\n    torch.ones(2).cuda() + torch.ones(2)\nexcept RuntimeError:\n    print("fine")\n'
    )
    assert ran.done.exit_code == 0 and ran.failure["uncaught"] is False


def test_a_failure_that_another_exception_wraps(trace_program: Any) -> None:
    ran = trace_program(
        """
        import torch
        try:
            torch.ones(2).cuda() + torch.ones(2)
        except RuntimeError as error:
            raise ValueError("bad input") from error
        """
    )
    assert ran.failure["kind"] == "device-mismatch" and ran.failure["uncaught"]
    assert "bad input" in ran.failure["traceback"] and len(ran.failure["operands"]) == 2


def test_an_excepthook_of_the_program_does_not_hide_the_failure(trace_program: Any) -> None:
    ran = trace_program(
        "import sys, torch\nsys.excepthook = lambda *_: print('mine')\ntorch.ones(2).cuda() + torch.ones(2)\n"
    )
    assert ran.done.stdout == "mine\n" and ran.done.stderr == "" and ran.failure["uncaught"]


def test_holders_by_frame_and_the_root_that_registers_them(trace_program: Any) -> None:
    ran = trace_program(
        """
        import torch
        from torch import nn
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.mask = torch.ones(2)
            def forward(self, x):
                return x * self.mask
        class Net(nn.Module):
            def __init__(self, block):
                super().__init__()
                self.blocks = nn.ModuleList([block])
            def forward(self, x):
                for layer in self.blocks:
                    x = layer(x)
                return x
        block = Block()
        net = Net(block).cuda()
        net(torch.ones(2).cuda())
        """
    )
    mask = ran.operand("other")
    assert [(each["expression"], each["attribute"], each["root"], each["kind"]) for each in mask["holders"]] == [
        ("self", "mask", "self", "attribute"),
        ("self.blocks[0]", "mask", "self", "attribute"),
        ("net.blocks[0]", "mask", "net", "attribute"),
    ]
    assert mask["owner"] == mask["holders"][0]


def test_a_copy_that_nobody_kept(trace_program: Any) -> None:
    ran = trace_program(
        """
        import torch
        x = torch.ones(4)
        x.to("cuda")
        x.view(2, 2) + torch.ones(2, 2).cuda()
        """
    )
    first, second = ran.failure["operands"]
    assert (first["copy"]["device"], ran.text(first["copy"]["places"][0])) == ("cuda:0", 'x.to("cuda")')
    assert second["copy"] is None


def test_the_tensors_that_an_operand_was_computed_from(trace_program: Any) -> None:
    ran = trace_program(
        """
        import torch
        rows = {name: torch.ones(3) for name in "ab"}
        base = rows["b"].exp()
        other = torch.ones(3).cuda()
        2 * base.clamp(min=0) + other.neg()
        """
    )
    first, second = ran.failure["operands"]
    assert not first["names"]
    assert [each["expression"] for each in first["sources"]] == ["base", 'rows["b"]']
    assert [each["expression"] for each in second["sources"]] == ["other"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="groups of exceptions came with Python 3.11")
def test_a_failure_inside_a_group(trace_program: Any) -> None:
    ran = trace_program(
        """
        import asyncio, torch
        async def work():
            torch.ones(2).cuda() + torch.ones(2)
        async def main():
            async with asyncio.TaskGroup() as group: group.create_task(work())
        asyncio.run(main())
        """
    )
    assert ran.failure["kind"] == "device-mismatch" and len(ran.failure["operands"]) == 2
    assert "in work" in ran.failure["traceback"] and "/probe/" not in ran.failure["traceback"]


def test_any_other_exception_has_frames_alone(trace_program: Any) -> None:
    ran = trace_program("import torch\nx = torch.ones(2)\n{}['key']\n")
    failure = ran.failure
    assert (failure["kind"], failure["exception"], failure["operands"]) == ("other", "KeyError", [])
    assert ran.text(failure["frames"][0]["place"]) == "{}['key']"


def test_the_world_without_gpus(trace_program: Any) -> None:
    ran = trace_program("import torch\ndef f():\n    return torch.ones(2).cuda()\nf()\n", world="cpu", gpus=0)
    assert ran.failure["kind"] == "no-device"
    assert ran.text(ran.failure["frames"][1]["place"]) == "torch.ones(2).cuda()"


def test_copies_are_counted_by_line(trace_program: Any) -> None:
    ran = trace_program(
        """
        import torch
        x = torch.ones(8)
        for _ in range(3):
            y = x.cuda()
        y.cpu(); y.sum().item(); y.tolist()
        y.to("cuda:1")
        """,
        gpus=2,
    )
    told = {
        (each["place"]["line"], each["direction"]): (each["count"], each["bytes"]) for each in ran.trace["transfers"]
    }
    assert told == {(4, "to-device"): (3, 96), (5, "to-host"): (3, 68), (6, "between-devices"): (1, 32)}


def test_copies_in_a_traced_function_are_counted_without_a_trace_of_that(trace_program: Any) -> None:
    ran = trace_program(
        """
        import torch
        traced = torch.jit.trace(lambda x: x + x.tolist()[0], torch.ones(8, device="cuda"), check_trace=False)
        assert "numel" not in str(traced.graph)
        """
    )
    assert [each["bytes"] for each in ran.trace["transfers"]] == [32]


def test_a_number_that_a_traced_function_reads_is_counted(trace_program: Any) -> None:
    ran = trace_program(
        """
        import torch
        traced = torch.jit.trace(lambda x: x + float(x[0]), torch.ones(8, device="cuda"), check_trace=False)
        assert "numel" not in str(traced.graph)
        """
    )
    assert [each["bytes"] for each in ran.trace["transfers"]] == [4]
