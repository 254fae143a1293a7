"""The device checks of the simulation are those that PyTorch's own generator writes into its CUDA kernels."""

import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from devfix.probe.simulation.operator_tables import policy

torchgen = pytest.importorskip("torchgen.gen", reason="torchgen needs PyYAML to read its own file")
model = pytest.importorskip("torchgen.model")
FOLDER = Path(__file__).parent
SAME = "Expected all tensors to be on the same device, "
# Everything that a mixture may become: any other text would be one that no GPU speaks.
BY_HAND = (
    "expected self and mask to be on the same device",
    "masked_fill_: Expected inputs",
    "torch.block_diag: input tensors must",
    "meshgrid expects all",
    "Expected b and A to be",
    "Expected tensor to have",
    "multi_dot(): all tensors",
    "Expected query, key, and value",
    "tensor_split expected",
    "torch.searchsorted(): sorter",
    "Could not run",
    "quantile() q tensor",
    "stft input and window",
    "istft input and window",
    "torch.gradient expected",
    "Trying to pass too many CPU scalars",
)
CLASSES = {
    "passes": r"ok$",
    "argument (2.8 and newer)": SAME + r"but got \w+ is on \S+, different from other tensors on \S+ "
    r"\(when checking argument in method wrapper_\w+\)$",
    "argument (older)": SAME + r"but found at least two devices, \S+ and \S+! "
    r"\(when checking argument for argument \w+ in method wrapper_\w+\)$",
    "iterator": SAME + r"but found at least two devices, \S+ and \S+!$",
    "index": r"indices should be either on cpu or on the same device as the indexed tensor \(",
    "convolution": r"Input type \(torch\.\S+\) and (weight|bias) type \(torch\.\S+\) should be the same",
    "in the kernel": r"iter\.device\(arg\)\.is_cuda\(\) INTERNAL ASSERT FAILED .* expected a CUDA device but found cpu",
    "by hand": "|".join(map(re.escape, BY_HAND)),
}


@cache
def generated() -> dict[str, tuple[bool, str, bool]]:
    """What the generator writes for an operator with a CUDA kernel: does it check, the wrapper's name, is it `out=`."""
    from torchgen.api.types import DispatcherSignature, NativeSignature

    folder = Path(torchgen.__file__).parent / "packaged/ATen/native"
    parsed = torchgen.parse_native_yaml(str(folder / "native_functions.yaml"), str(folder / "tags.yaml"))
    cuda = parsed.backend_indices[model.DispatchKey.CUDA]
    groups = torchgen.get_grouped_native_functions(parsed.native_functions)
    structured = {
        str(function.func.name)
        for group in groups
        if isinstance(group, model.NativeFunctionsGroup) and group.structured and cuda.has_kernel(group)
        for function in group.functions()
    }
    found = {}
    for function in parsed.native_functions:
        name = str(function.func.name)
        checks = function.device_check != model.DeviceCheckType.NoCheck
        if name in structured:
            signature = NativeSignature(function.func, prefix="wrapper_CUDA_", symint=False)
        elif cuda.has_kernel(function):
            prefix = f"wrapper_CUDA_{function.func.name.overload_name}_"
            signature = DispatcherSignature.from_schema(function.func, prefix=prefix, symint=False)
        else:
            continue
        found[f"aten::{name}"] = (checks, signature.name(), function.func.is_out_fn())
    return found


@pytest.mark.slow
def test_agrees_with_the_generator() -> None:
    entries = policy.entries()
    wrong = {}
    for name, (checks, method, is_out) in generated().items():
        if name not in entries:  # made by the generator itself: `add.out` of an operator that lacks it, and so on
            continue
        entry = entries[name]
        if not entry.has("CUDA") or entry.checks != checks or entry.method("CUDA", is_out) != method:
            wrong[name] = (entry.has("CUDA"), entry.checks, checks, entry.method("CUDA", is_out), method)
    assert not wrong, json.dumps(wrong, indent=1)
    assert len(set(generated()) & set(entries)) > 1000


@pytest.mark.slow
def test_names_only_wrappers_that_there_are() -> None:
    missing = set(generated()) - set(policy.entries())
    named = {name for name, entry in policy.entries().items() if entry.has("CUDA") and name not in generated()}
    assert not named, sorted(named)
    assert all(name.endswith("out") or "functional" in name for name in missing), sorted(missing)


@cache
def recording(tmp: Path) -> dict[str, dict[str, dict[str, dict[str, str]]]]:
    command = [
        sys.executable,
        "-m",
        "devfix.probe.conformance",
        "record",
        str(tmp),
        "--world",
        "simulated",
        "--samples",
        "2",
    ]
    done = subprocess.run([*command, "--snippets", str(FOLDER)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(tmp.read_text(encoding="utf-8"))["operators"])


@pytest.fixture(scope="session")
def mixtures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, dict[str, str]]]:
    return recording(tmp_path_factory.mktemp("truth") / "simulated.json")


@pytest.mark.exhaustive
def test_classifies_every_mixture(mixtures: dict[str, dict[str, dict[str, str]]]) -> None:
    unknown = {}
    for pair, operators in mixtures.items():
        assert len(operators) > 200
        for name, rows in operators.items():
            for row, outcome in rows.items():
                text = outcome if outcome == "ok" else outcome.partition(": ")[2]
                if not any(re.match(pattern, text) for pattern in CLASSES.values()):
                    unknown[f"{pair}: {name}, {row}"] = outcome
    assert not unknown, json.dumps(unknown, indent=1)


@pytest.mark.exhaustive
def test_names_real_wrappers_and_arguments(mixtures: dict[str, dict[str, dict[str, str]]]) -> None:
    methods = {method for _, method, _ in generated().values()} | {"wrapper_CUDA__cudnn_convolution"}
    named = set()
    for operators in mixtures.values():
        for rows in operators.values():
            named |= {found.group() for text in rows.values() if (found := re.search(r"wrapper_\w+", text))}
    assert len(named) > 60 and named <= methods | {name for name in named if "Sparse" in name}, sorted(named - methods)


@pytest.mark.exhaustive
def test_a_second_gpu_is_no_better_than_the_cpu(mixtures: dict[str, dict[str, dict[str, str]]]) -> None:
    """What mixes tensors with dimensions passes for another GPU only where it passes for the CPU."""
    lenient = set()
    for name, rows in mixtures["cuda:1 in cuda:0"].items():
        for row, outcome in rows.items():
            if outcome == "ok" and "0-dim" not in row and mixtures["cpu in cuda:0"][name][row] != "ok":
                lenient.add(f"{name}, {row}")
    assert not lenient, sorted(lenient)
