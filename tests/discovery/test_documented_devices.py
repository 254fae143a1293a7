"""Which accelerators the documents of a repository claim, and which sentences claim none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from devfix.discovery import documented_devices
from devfix.model import DeviceType

MPS, XPU = DeviceType.MPS, DeviceType.XPU


def claimed(files: Mapping[str, str]) -> list[tuple[DeviceType, str, int]]:
    def containing(texts: Sequence[str]) -> list[str]:
        return [path for path, content in files.items() if any(text in content for text in texts)]

    found = documented_devices(containing, lambda path: files[path].encode())
    return [(each.device, each.path, each.line) for each in found]


@pytest.mark.parametrize(
    ("text", "devices"),
    [
        ("Runs on NVIDIA GPUs and on Apple Silicon.", [MPS]),
        ("| GPU | CUDA, MPS |", [MPS]),
        ("    python train.py --device mps", [MPS]),
        ("    python train.py --device=xpu", [XPU]),
        ('model = load("base", device="mps")', [MPS]),
        ("Choose `cuda`, `mps` or `xpu`.", [MPS, XPU]),
        ("Tested on Intel Arc A770 and Intel Data Center GPU Max.", [XPU]),
        ("accelerator: mps", [MPS]),
        ("Apple Silicon is not supported.", []),
        ("- [ ] support for Apple Silicon", []),
        ("MPS doesn't work with GPU training yet.", []),
        ("Support for Intel GPUs is planned.", []),
        ("Several jobs share a CUDA GPU with MPS (Multi-Process Service).", []),
        ("We simulate quantum circuits with MPS.", []),
        ("The video has 20 mps, the road 30 mps.", []),
        ("Runs on Intel CPUs.", []),
        ("Works on macOS, Linux and Windows.", []),
    ],
)
def test_a_line_claims_what_it_names_and_does_not_deny(text: str, devices: list[DeviceType]) -> None:
    assert claimed({"README.md": f"# Title\n\n{text}\n"}) == [(device, "README.md", 3) for device in devices]


@pytest.mark.parametrize(
    ("path", "is_document"),
    [
        ("README", True),
        ("readme.rst", True),
        ("doc/install.md", True),
        ("docs/guide/getting-started.rst", True),
        ("pyproject.toml", True),
        ("vendor/README.md", False),
        ("doc/changelog.md", False),
        ("CHANGELOG.md", False),
        ("doc/theory.md", False),
        ("README.py", False),
        ("tests/data/readme.txt", False),
    ],
)
def test_documents_are_those_for_users_of_the_whole(path: str, is_document: bool) -> None:
    assert bool(claimed({path: "Apple Silicon"})) is is_document


def test_the_page_nearest_to_the_root_is_named() -> None:
    files = {"doc/usage.md": "Apple Silicon", "README.md": "No MPS on a GPU.\nUse `mps`."}
    assert claimed(files) == [(MPS, "README.md", 2)]
