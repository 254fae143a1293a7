"""Which expression chooses a device for the accelerators that a program has to run on."""

from collections.abc import Mapping

import pytest

from devfix.sdk import DeviceChoice, File, Sources, device_choices

ASK = "torch.accelerator"
NEUTRAL = DeviceChoice(f'{ASK}.current_accelerator().type if {ASK}.is_available() else "cpu"')
PICK = (
    "\n\ndef pick_device():\n    if torch.cuda.is_available() or torch.backends.mps.is_available():\n        return 1\n"
)
CONSTANT = (
    '\n\nDEVICE = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"\n'
)
TRAIN = "import torch\nx = torch.ones(2).cuda()\n"


def choices(
    files: Mapping[str, str], *kinds: str, literal: str = '"cuda"', path: str = "train.py"
) -> list[DeviceChoice]:
    data = {name: text.encode() for name, text in files.items()}
    sources = Sources(
        data.get, lambda texts: [name for name in data if any(each.encode() in data[name] for each in texts)]
    )
    return list(device_choices(File(path, data[path]), sources, kinds, literal))


def test_without_another_accelerator_cuda_alone_is_asked_for() -> None:
    files = {"train.py": TRAIN, "devices.py": "import torch" + PICK}
    assert choices(files) == [DeviceChoice('"cuda" if torch.cuda.is_available() else "cpu"')]


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("torch>=2.6", NEUTRAL.text),
        ("torch>=2.10", NEUTRAL.text),
        (
            "torch>=2.5",
            '"cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() '
            'else "xpu" if torch.xpu.is_available() else "cpu"',
        ),
    ],
)
def test_releases_without_the_module_are_asked_for_each_kind(declared: str, expected: str) -> None:
    files = {"train.py": TRAIN, "requirements.txt": declared + "\n"}
    assert [each.text for each in choices(files, "mps", "xpu")] == [expected]


def test_one_gpu_of_several_stays_the_one() -> None:
    (choice,) = choices({"train.py": TRAIN}, "xpu", literal='"cuda:1"')
    assert choice.text == '"cuda:1" if torch.cuda.is_available() else "xpu" if torch.xpu.is_available() else "cpu"'


@pytest.mark.parametrize(
    ("files", "path", "expected"),
    [
        ({"devices.py": PICK}, "train.py", DeviceChoice("pick_device()", "devices", "pick_device")),
        ({"devices.py": CONSTANT}, "train.py", DeviceChoice("DEVICE", "devices", "DEVICE")),
        (
            {"src/acme/__init__.py": "", "src/acme/devices.py": PICK},
            "src/acme/train.py",
            DeviceChoice("pick_device()", "acme.devices", "pick_device"),
        ),
        (
            {"acme/__init__.py": "", "acme/run/__init__.py": "", "acme/devices.py": PICK},
            "acme/run/train.py",
            DeviceChoice("pick_device()", "acme.devices", "pick_device"),
        ),
    ],
)
def test_the_repositorys_own_choice_comes_first(files: dict[str, str], path: str, expected: DeviceChoice) -> None:
    given = {name: "import torch" + text for name, text in files.items()}
    assert choices({**given, path: TRAIN}, "mps", path=path) == [expected, NEUTRAL]


def test_what_the_file_has_imported_already_needs_no_import() -> None:
    files = {"train.py": "import torch\nfrom devices import pick_device\n", "devices.py": "import torch" + PICK}
    assert choices(files, "mps")[0] == DeviceChoice("pick_device()")


@pytest.mark.parametrize(
    "other",
    [
        PICK.replace("()", "(name)", 1),
        PICK.replace("return 1", "print(1)"),
        PICK.replace("backends.mps", "xpu"),
        PICK.replace("torch.cuda.is_available() or ", ""),
        PICK.replace("pick_device", "supports"),
        PICK + "\n\nif __name__ == '__main__':\n    print(pick_device())\n",
        PICK + "\n\nprint(pick_device())\n",
        "\nimport train" + PICK,
    ],
)
def test_a_program_a_caller_and_a_choice_of_other_devices_are_not_asked(other: str) -> None:
    assert choices({"train.py": TRAIN, "devices.py": "import torch" + other}, "mps") == [NEUTRAL]


def test_a_module_of_another_folder_that_is_no_package_cannot_be_imported() -> None:
    assert choices({"tools/devices.py": "import torch" + PICK, "train.py": TRAIN}, "mps") == [NEUTRAL]
