"""Which accelerators a repository claims to support, and where a fix is verified for it."""

from collections.abc import Sequence

import pytest

from devfix.discovery import claimed_devices
from devfix.execution.device_matrix import worlds_to_verify
from devfix.model import DeviceType, World

FILES = {
    "pick.py": 'device = "mps" if torch.backends.mps.is_available() else "cpu"\n',
    "README.md": "Runs on torch.xpu. too.\n",
    "names.py": 'KNOWN = ["cpu", "cuda", "mps", "xpu"]\n',
}


def containing(texts: Sequence[str]) -> list[str]:
    return [path for path, content in FILES.items() if any(text in content for text in texts)]


def test_code_that_asks_for_mps_claims_it_and_a_name_or_a_document_does_not() -> None:
    assert claimed_devices(containing) == (DeviceType.MPS,)


@pytest.mark.parametrize(
    ("home", "claimed", "names"),
    [
        (World("simulated", 1), (), ["cuda x1", "cpu", "cuda x2", "cuda x2, current 1"]),
        (World("simulated", 1), (DeviceType.MPS,), ["cuda x1", "cpu", "cuda x2", "cuda x2, current 1", "mps"]),
        (World("simulated", 1, device=DeviceType.MPS), (DeviceType.MPS,), ["mps", "cpu", "cuda x1"]),
        (
            World("simulated", 2, device=DeviceType.XPU),
            (DeviceType.MPS,),
            ["xpu x2", "cpu", "xpu x1", "xpu x2, current 1", "cuda x1", "mps"],
        ),
        (World("cpu"), (), ["cpu", "cuda x1", "cuda x2", "cuda x2, current 1"]),
    ],
)
def test_a_fix_is_verified_where_it_must_hold(home: World, claimed: tuple[DeviceType, ...], names: list[str]) -> None:
    assert [world.name for world in worlds_to_verify(home, 0, claimed)] == names


@pytest.mark.parametrize(
    ("device", "kinds"),
    [
        (DeviceType.CUDA, ["real", "cpu", "simulated", "simulated", "simulated mps"]),
        (DeviceType.MPS, ["real mps", "cpu", "simulated"]),
        (DeviceType.XPU, ["real xpu", "cpu", "simulated xpu", "simulated xpu", "simulated", "simulated mps"]),
    ],
)
def test_one_real_gpu_stands_for_itself_alone(device: DeviceType, kinds: list[str]) -> None:
    worlds = worlds_to_verify(World("real", 1, device=device), 1, (DeviceType.MPS,))
    assert [each.kind + f" {each.device.value}" * (each.device is not DeviceType.CUDA) for each in worlds] == kinds
