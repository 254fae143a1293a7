"""What is in scope: which expressions are told, on which device, and that nothing of the user's runs for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from probe_programs import Ran, run_program

from devfix.execution.prefork import PreforkServer


@pytest.fixture
def scope(tmp_path: Path, warm: PreforkServer) -> Any:
    """Run a program that fails at its end; return the scope of its last owned frame."""

    def run(source: str, **order: Any) -> dict[str, tuple[str, str]]:
        ran: Ran = run_program(tmp_path, source, warm=warm, **order)
        assert ran.trace["internal_errors"] == []
        frames = [frame for frame in ran.failure["frames"] if frame["place"]["path"].startswith(str(ran.folder))]
        assert "UNSAFE" not in ran.done.stdout + ran.done.stderr
        run.bindings = frames[-1]["scope"]  # type: ignore[attr-defined]
        return {each["expression"]: (each["kind"], each["device"]) for each in frames[-1]["scope"]}

    return run


FAIL = "torch.ones(2, device='cuda') + torch.ones(2)"


def test_locals_closures_and_the_globals_that_are_used(scope: Any) -> None:
    told = scope(
        f"""
        import torch, types
        DEVICE = torch.device("cuda")
        FORGOTTEN_DEVICE, backend = "cuda", "cuda"  # what nobody used yet may be just what is missing
        UNUSED, edges = torch.ones(1), [torch.ones(1)]  # `edges` has the name of an attribute and must not hide it
        def outer(graph):
            table = torch.zeros(3)
            def inner(name="cuda:0"):
                table.shape, DEVICE, graph.edges
                {FAIL}
            return inner
        outer(types.SimpleNamespace(edges=edges))()
        """
    )
    forgotten = {"FORGOTTEN_DEVICE": ("string", "cuda")}
    told_of_devices = {"name": ("string", "cuda:0"), "DEVICE": ("device", "cuda"), **forgotten}
    assert told == {**told_of_devices, "table": ("tensor", "cpu"), "graph.edges[0]": ("tensor", "cpu")}


def test_objects_dataclasses_dicts_and_lists(scope: Any) -> None:
    told = scope(
        f"""
        import argparse, collections, dataclasses, types, torch
        @dataclasses.dataclass
        class Config:
            device: str
            inner: object = None
        class Slotted:
            __slots__ = ("weight", "absent")
        class Trainer:
            kind = torch.device("cuda:0")
            def __init__(self):
                self.batch = {{"ids": torch.ones(1), "mask": [torch.zeros(1)], 3: torch.ones(1)}}
                self.config = Config("cuda", Config("cpu"))
                self.slotted = Slotted(); self.slotted.weight = torch.ones(2)
                self.model = torch.nn.ModuleDict({{"a": torch.nn.Linear(1, 1)}})
            def run(self, args, user, row):
                optimizer = torch.optim.SGD(self.model.parameters())
                {FAIL}
        Row = collections.namedtuple("Row", "first second third fourth fifth")
        Trainer().run(argparse.Namespace(device="cuda:0"), collections.UserDict(x=torch.ones(1)),
                      Row(torch.ones(1), "text", 3, None, torch.ones(1)))
        """
    )
    assert told == {
        "self.kind": ("device", "cuda:0"),
        'self.batch["ids"]': ("tensor", "cpu"),
        'self.batch["mask"][0]': ("tensor", "cpu"),
        "self.batch[3]": ("tensor", "cpu"),
        "self.config.device": ("string", "cuda"),
        "self.slotted.weight": ("tensor", "cpu"),
        "self.model": ("module", "cpu"),
        'self.model["a"]': ("module", "cpu"),
        "args.device": ("string", "cuda:0"),
        'user["x"]': ("tensor", "cpu"),
        "row.first": ("tensor", "cpu"),
        "row.fifth": ("tensor", "cpu"),
        "optimizer": ("optimizer", "cpu"),
        **dict.fromkeys(("self", "self.config", "args"), ("object", "")),  # they say where they are
        "self.slotted": ("instance", ""),
        "self.batch": ("dictionary", ""),  # which a list could be taken for by its number
    }


def test_objects_are_told_with_their_classes_and_the_device_of_a_property(scope: Any) -> None:
    told = scope(
        f"""
        import torch
        class State:
            def __init__(self):
                self.chosen = torch.device("cuda:0")
        class Runner:
            def __init__(self):
                self.state = State()
            @property
            def device(self):
                print("UNSAFE")
                return self.state.chosen
        class Net(torch.nn.Linear):
            @property
            def device(self):
                print("UNSAFE")
                return self.weight.device
        def run(runner, net, spread, loader):
            {FAIL}
        class Spread(Runner):
            def __init__(self):
                self.here, self.there = torch.device("cpu"), torch.device("cuda:0")
        run(Runner(), Net(2, 2).cuda(), Spread(), torch.utils.data.DataLoader([1]))
        """
    )
    assert told == {
        "runner": ("object", ""),
        "runner.device": ("device", "cuda:0"),
        "runner.state": ("object", ""),
        "runner.state.chosen": ("device", "cuda:0"),
        "net": ("module", "cuda:0"),
        "net.device": ("device", "cuda:0"),
        "net.weight": ("tensor", "cuda:0"),
        "net.bias": ("tensor", "cuda:0"),
        "spread": ("object", ""),  # which of the two its property gives only its code knows
        "spread.here": ("device", "cpu"),
        "spread.there": ("device", "cuda:0"),
        "loader": ("instance", ""),
    }
    found = {each["expression"]: each for each in scope.bindings}
    net, loader = found["net"], found["loader"]
    assert net["classes"] == ["__main__.Net"]
    assert "torch.utils.data.dataloader.DataLoader" in loader["classes"]
    assert {name: found[name]["qualified_type"] for name in ("net", "loader", "net.device", "net.weight")} == {
        "net": "__main__.Net",
        "loader": "torch.utils.data.dataloader.DataLoader",
        "net.device": "torch.device",
        "net.weight": "torch.nn.parameter.Parameter",
    }


def test_nothing_of_the_users_runs(scope: Any) -> None:
    told = scope(
        f"""
        import torch
        armed = []
        def say(*what):
            if armed: print("UNSAFE", *what)
        class Trap:
            def __init__(self):
                self.__dict__["held"] = torch.ones(1)
            @property
            def device(self): say("property"); return "cuda"
            def __getattr__(self, name): say("getattr", name); raise AttributeError(name)
            def __getattribute__(self, name):
                if name != "__init__": say("getattribute", name)
                return object.__getattribute__(self, name)
            def __len__(self): say("len"); return 1
            def __bool__(self): say("bool"); return True
            def __iter__(self): say("iter"); return iter(())
            def __eq__(self, other): say("eq"); return True
            def __hash__(self): say("hash"); return 1
            def __repr__(self): say("repr"); return ""
        class Proxy:
            @property
            def __class__(self): say("class"); return torch.Tensor
        class Mapping(dict):
            def items(self): say("items"); return []
            def __iter__(self): say("dict iter"); return iter(())
            def __getitem__(self, key): say("getitem"); return None
        class Loud(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.w = torch.nn.Parameter(torch.ones(1))
            def parameters(self, recurse=True): say("parameters"); return iter(())
            def named_parameters(self, *a, **k): say("named"); return iter(())
            def __getattr__(self, name): say("module getattr", name); return super().__getattr__(name)
        def main():
            trap, proxy, mapping, loud = Trap(), Proxy(), Mapping(a=torch.ones(1)), Loud()
            armed.append(1)
            {FAIL}
        main()
        """
    )
    assert told == {
        'mapping["a"]': ("tensor", "cpu"),
        "loud": ("module", "cpu"),
        "loud.w": ("tensor", "cpu"),
        "trap.held": ("tensor", "cpu"),
        **dict.fromkeys(("trap", "proxy"), ("instance", "")),
    }


def test_modules_of_the_repository_are_opened_where_they_are_used(tmp_path: Path, warm: PreforkServer) -> None:
    ran = run_program(
        tmp_path,
        f"import torch, settings\ndef main():\n    settings.DEVICE\n    {FAIL}\nmain()\n",
        files={"settings.py": 'DEVICE = "cuda:0"\nOTHER = "cpu"\n'},
        warm=warm,
    )
    scope = ran.failure["frames"][-1]["scope"]
    assert [(each["expression"], each["device"]) for each in scope] == [("settings.DEVICE", "cuda:0")]


def test_it_is_bounded(scope: Any) -> None:
    told = scope(
        f"""
        import torch
        class Node:
            pass
        def main():
            many = [torch.ones(1) for _ in range(5000)]
            table = {{str(i): torch.ones(1) for i in range(5000)}}
            node = Node(); node.itself = node; node.x = torch.ones(1)
            layers = torch.nn.ModuleList(torch.nn.Linear(1, 1) for _ in range(1000))
            {FAIL}
        main()
        """
    )
    assert {"many[0]", "many[3]", 'table["0"]', "node.x", "layers", "layers[0]"} <= set(told)
    assert "many[4]" not in told and len(told) <= 400


def test_expressions_mean_in_the_program_what_they_tell(tmp_path: Path, warm: PreforkServer) -> None:
    ran = run_program(
        tmp_path,
        f"""
        import torch
        from torch import nn
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(2, 2))])
                self.heads = nn.ModuleDict({{"a b": nn.Linear(2, 2), "c": nn.Linear(2, 2)}})
                self.ranks = nn.ParameterDict({{"c": nn.Parameter(torch.ones(2))}})
                self.add_module("odd name", nn.Linear(2, 2))
            def forward(self):
                names = list(open("names.txt").read().splitlines()) if MORE else []
                for name in names:
                    print(name, type(eval(name)).__name__)
                {FAIL}
        MORE = False
        Net().cuda()()
        """,
        warm=warm,
    )
    scope = ran.failure["frames"][-1]["scope"]
    told = {each["expression"]: each["type"] for each in scope if each["expression"].startswith("self")}
    assert {"self.blocks[0]", 'self.heads["c"]', 'self.ranks["c"]', "self.blocks"} <= set(told)
    (ran.folder / "names.txt").write_text("\n".join(told))
    source = (ran.folder / "program.py").read_text().replace("MORE = False", "MORE = True")
    again = run_program(tmp_path, source, warm=warm)
    assert dict(line.rsplit(" ", 1) for line in again.done.stdout.splitlines()) == told


def test_integers_that_name_a_gpu_and_class_attributes_that_are_hidden(scope: Any) -> None:
    told = scope(
        f"""
        import dataclasses, torch
        @dataclasses.dataclass
        class Settings:
            device: str = "cpu"
            size: int = 1
        def run(device, steps, gpu_id, first_rank, settings):
            {FAIL}
        run(0, 0, 1, True, Settings("cuda:0"))
        """,
        gpus=2,
    )
    assert told == {
        "device": ("index", "cuda:0"),
        "gpu_id": ("index", "cuda:1"),
        "settings.device": ("string", "cuda:0"),
        "settings": ("object", ""),
    }
