"""Histories of tensors: kinds of creations, moves, what is kept, what is not marked, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from probe_programs import PYTHON, run_program

from devfix.process import child_environment


@pytest.mark.parametrize(
    ("made", "kind"),
    [
        ("torch.arange(3)", "factory"),
        ("torch.linspace(h.min(), h.max(), 3)", "factory"),
        ("torch.randn(3)", "random"),
        ("torch.tensor([1.0, 2, 3])", "constant"),
        ("torch.from_numpy(numpy.ones(3))", "numpy"),
        ("torch.load(file)", "load"),
        ("torch.FloatTensor([1, 2, 3])", "constant"),
        ("torch.Tensor([1, 2, 3])", "constant"),
        ("h.new_zeros(3)", "factory"),
        ("torch.ones_like(h)", "factory"),
        ("torch.randint(0, 5, (3,))", "random"),
        ("torch.empty(3).normal_()", "random"),
    ],
)
def test_creations(trace_program: Any, made: str, kind: str) -> None:
    prelude = "import io, numpy, torch\nfile = io.BytesIO(); torch.save(torch.ones(3), file); file.seek(0)\n"
    ran = trace_program(f"{prelude}h = torch.ones(3)\nx = h.cuda()\ny = {made}\nx + y\n")
    creation = ran.operand("other")["history"][0]
    assert (creation["kind"], creation["device"], ran.text(creation["places"][0])) == (kind, "cpu", made)


@pytest.mark.parametrize(
    ("step", "name"),
    [
        ("h + 1", "add"),
        ("h * h", "mul"),
        ("h.exp()", "exp"),
        ("h[1:]", "slice"),
        ("h.view(3, 1)", "view"),
        ("torch.cat([h, h])", "cat"),
        ("torch.nn.functional.linear(h, torch.ones(3, 3))", "linear"),
        ("torch.nn.functional.linear(h, torch.ones(3, 3, requires_grad=True)).detach()", "detach"),
        ("h.clone()", "clone"),
        ("torch.where(h > 0, 1.0, 0.0)", "where"),
        ("torch.where(h > 0, h, 0.0)", "where"),
        ("torch.where(torch.ones(3) > 2, 0.0, h)", "where"),
    ],
)
def test_what_is_derived_on_the_host_keeps_its_creation(trace_program: Any, step: str, name: str) -> None:
    ran = trace_program(
        f"import torch\nh = torch.ones(3, 3)[0]\ny = {step}\nassert y[..., 0].sum() > 0.5\ny + torch.ones(1).cuda()\n"
    )
    history = ran.operand("self")["history"]
    assert (history[0]["kind"], ran.text(history[0]["places"][0])) == ("factory", "torch.ones(3, 3)")
    assert history[-1]["op"].rpartition("::")[2] == name
    assert step.startswith(ran.text(history[-1]["places"][0]))


def test_a_parameter_remembers_its_creation_and_its_moves(trace_program: Any) -> None:
    ran = trace_program(
        """
        import torch
        p = torch.nn.Parameter(torch.randn(3))
        p.data = p.data.cuda()
        p * torch.ones(3)
        """
    )
    history = ran.operand("self")["history"]
    assert [(event["kind"], event["device"]) for event in history] == [
        ("random", "cpu"),
        ("parameter", "cpu"),
        ("move", "cuda:0"),
    ]


@pytest.mark.parametrize("module", ["torch.nn.Linear(3, 3, bias=False)", "torch.nn.Linear(3, 3, bias=False).cuda()"])
def test_a_parameter_with_the_data_of_another_tensor_was_created_where_that_was(
    trace_program: Any, module: str
) -> None:
    ran = trace_program(
        f"""
        import torch
        layer = {module}
        layer.weight.data = torch.FloatTensor([[1, 2, 3]] * 3)
        layer(torch.ones(1, 3).cuda())
        """
    )
    history = next(each for each in ran.failure["operands"] if each["device"] == "cpu")["history"]
    assert (history[0]["kind"], ran.text(history[0]["places"][0])) == ("constant", "torch.FloatTensor([[1, 2, 3]] * 3)")
    assert "torch.Tensor.data" in [event["op"] for event in history]


def test_creation_and_move_outlast_many_steps(trace_program: Any) -> None:
    ran = trace_program(
        """
        import torch
        y = torch.linspace(0, 1, 3)
        y = y.cuda()
        for _ in range(1000):
            y = y * 1.5
        y + torch.ones(3)
        """
    )
    history = ran.operand("self")["history"]
    assert ran.text(history[0]["places"][0]) == "torch.linspace(0, 1, 3)" and history[0]["device"] == "cpu"
    assert ran.text(history[1]["places"][0]) == "y.cuda()" and history[1]["kind"] == "move"
    assert 4 <= len(history) - 2 <= 14 and {event["op"] for event in history[2:]} == {"aten::mul"}


def test_names_of_what_an_operand_was_derived_from(trace_program: Any) -> None:
    ran = trace_program(
        """
        import torch
        mask = torch.ones(3, 3)
        other = torch.zeros(3, 3)
        wide = mask[None].half()
        torch.ones(3, 3).cuda() * wide.transpose(1, 2)
        """
    )
    names = [(name["expression"], name["relation"]) for name in ran.operand("other")["names"]]
    assert names == [("wide", "source"), ("mask", "source")]


def test_modules_tell_where_they_were_made_and_moved(trace_program: Any) -> None:
    ran = trace_program(
        """
        import torch
        def build():
            return torch.nn.Linear(3, 3)
        net = build()
        net = net.to("cuda")
        net(torch.ones(3))
        """
    )
    scope = ran.failure["frames"][0]["scope"]
    net = next(binding for binding in scope if binding["expression"] == "net")
    assert [(event["kind"], ran.text(event["places"][0])) for event in net["history"]] == [
        ("made", "torch.nn.Linear(3, 3)"),
        ("move", 'net.to("cuda")'),
    ]


def test_the_device_map(trace_program: Any) -> None:
    ran = trace_program(
        """
        import torch
        from torch import nn
        def main():
            net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
            net[0].cuda()
            net[1].to("cuda:1")
        main()
        head = nn.Linear(2, 3)
        """,
        gpus=2,
        map=True,
    )
    told = {(each["expression"], each["device"]) for each in ran.trace["modules"]}
    assert told == {("Sequential", "mixed"), ("Sequential[0]", "cuda:0"), ("Sequential[1]", "cuda:1"), ("head", "cpu")}
    mixed = next(each for each in ran.trace["modules"] if each["device"] == "mixed")
    assert dict(mixed["tensors"]) == {"cuda:0": 2, "cuda:1": 2}


def test_watched_places_are_seen_before_their_line_is_over(trace_program: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "repository" / "program.py")
    ran = trace_program(
        """
        import torch
        def make(device, n):
            index = torch.arange(n)
            return index.to(device)
        for n in (3, 5):
            make("cuda:0", n)
        """,
        watch=[{"path": path, "line": 3}, {"path": path, "line": 6}],
    )
    inner, outer = sorted(ran.trace["watched"], key=lambda seen: seen["place"]["line"])
    assert [(each["expression"], each["kind"], each["device"]) for each in inner["scope"]] == [
        ("device", "string", "cuda:0")
    ]
    assert (inner["place"]["line"], outer["place"]["line"]) == (3, 6)


def test_a_comprehension_sees_what_is_around_it(trace_program: Any, tmp_path: Path) -> None:
    """Before Python 3.12 it has a frame of its own, and so it would see less than code in it can use."""
    ran = trace_program(
        """
        import torch
        def make(device, n):
            return {n: torch.zeros(n) for n in range(2)}
        make("cuda:0", torch.ones(1))
        """,
        watch=[{"path": str(tmp_path / "repository" / "program.py"), "line": 3}],
    )
    (seen,) = ran.trace["watched"]
    told = [(each["expression"], each["kind"]) for each in seen["scope"]]
    assert ("device", "string") in told and ("n", "tensor") not in told


def test_a_watched_place_is_told_as_it_was_at_last(trace_program: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "repository" / "program.py")
    ran = trace_program(
        """
        import torch
        class Steps:
            def run(self, y0):
                for step in range(2):
                    table = torch.zeros(len(y0))
                    later = y0 * 2
                return table
        steps = Steps()
        y0 = torch.ones(3)
        steps.run(y0)
        print(steps.run(y0.to("cuda:0")) + y0.to("cuda:0"))
        """,
        watch=[{"path": path, "line": 5}],
    )
    (seen,) = ran.trace["watched"]
    told = {each["expression"]: each["device"] for each in seen["scope"] if each["kind"] == "tensor"}
    assert told == {"y0": "cuda:0"}, "what the first round of a loop lacks is not in scope"


def test_tensors_carry_no_marks(trace_program: Any) -> None:
    ran = trace_program(
        """
        import copy, io, pickle, torch
        x = torch.ones(3)
        y = torch.nn.Parameter(x * 2)
        print(vars(x), vars(y), len(pickle.dumps(x)) == len(pickle.dumps(torch.ones(3))))
        plain = io.BytesIO(); torch.save({"x": x, "y": y}, plain); plain.seek(0)
        print({k: type(v).__name__ for k, v in torch.load(plain, weights_only=True).items()})
        z = copy.deepcopy(x)
        torch.utils.swap_tensors(x, z)
        print(x.tolist(), torch.utils.swap_tensors.__name__)
        """,
        world="cpu",
        gpus=0,
    )
    assert ran.done.stdout.splitlines() == [
        "{} {} True",
        "{'x': 'Tensor', 'y': 'Parameter'}",
        "[1.0, 1.0, 1.0] swap_tensors",
    ], ran.done.stderr


def test_tensors_die_as_they_would(trace_program: Any) -> None:
    ran = trace_program(
        """
        import torch, weakref
        class Thing: pass
        x = torch.ones(3).cuda()
        thing = Thing(); x.thing = thing; seen = weakref.ref(thing); del thing
        y = x * 2
        del x
        print(seen())
        try:
            y + torch.ones(3)
        except RuntimeError:
            pass
        watch = weakref.ref(y); del y
        print(watch())
        """
    )
    assert ran.done.stdout.split() == ["None", "None"], ran.done.stderr


@pytest.mark.exhaustive
def test_a_million_creations_stay_within_fifty_megabytes(tmp_path: Path) -> None:
    source = """
        import resource, torch
        keep = torch.ones(4)
        for _ in range(250_000):
            a = torch.zeros(2); b = a + 1; keep = keep * 1.0; c = b.view(2)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        """
    from devfix.process import run

    probed = run_program(tmp_path, source)
    plain = run([str(PYTHON), "program.py"], tmp_path / "repository", child_environment(), 300)
    assert int(probed.done.stdout) - int(plain.stdout) < 50_000, (probed.done, plain)


def test_the_garbage_collector_wakes_as_often_as_without_histories(trace_program: Any) -> None:
    """Plain Python wakes it 28 times for 20,000 tensors, and without care it would be five times as often."""
    ran = trace_program(
        """
        import gc, torch
        gc.collect()
        before = gc.get_stats()[0]["collections"]
        kept = [torch.ones(1) for _ in range(20_000)]
        print(gc.get_stats()[0]["collections"] - before)
        """
    )
    assert int(ran.done.stdout) <= 40
