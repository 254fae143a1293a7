"""Whose file it is, and how a release is pinned in the requirements that there are."""

from pathlib import Path

import pytest

from devfix.dependencies import Distribution, distribution_of, laid_over, pin_version


def test_names_the_distribution_of_an_installed_file() -> None:
    import libcst

    found = distribution_of(libcst.__file__)
    assert found is not None and (found.name, found.package) == ("libcst", "libcst")
    assert found.version and found.site == Path(libcst.__file__).parents[1]


def test_knows_no_distribution_of_loose_files(tmp_path: Path) -> None:
    import json

    assert distribution_of(json.__file__) is None
    loose = tmp_path / "site-packages" / "loose.py"
    assert distribution_of(str(loose)) is None


def test_lays_changed_files_over_what_is_installed(tmp_path: Path) -> None:
    site, folder = tmp_path / "site-packages", tmp_path / "over"
    (site / "pack" / "sub").mkdir(parents=True)
    (site / "pack" / "__init__.py").write_bytes(b"old")
    (site / "pack" / "sub" / "data.bin").write_bytes(b"data")
    over = laid_over(Distribution("pack", "1", site, "pack"), {"pack/__init__.py": b"new"}, folder)
    assert (over / "pack" / "__init__.py").read_bytes() == b"new"
    assert (over / "pack" / "sub" / "data.bin").read_bytes() == b"data"
    assert (site / "pack" / "__init__.py").read_bytes() == b"old"


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("requirements.txt", "torch\ndiffusers\n", "torch\ndiffusers==1.0\n"),
        ("requirements.txt", "diffusers>=0.30,<2  # ours\n", "diffusers==1.0  # ours\n"),
        (
            "requirements/dev.txt",
            "Diffusers[torch] ~= 0.30 ; python_version > '3'\n",
            "Diffusers[torch]==1.0 ; python_version > '3'\n",
        ),
        (
            "pyproject.toml",
            '[project]\nname = "x"\ndependencies = ["diffusers>=0.3", "a"]\n',
            '[project]\nname = "x"\ndependencies = ["diffusers==1.0", "a"]\n',
        ),
        ("requirements.txt", "diffusers-extra\nnot-diffusers\n", None),
        ("pyproject.toml", "[tool.diffusers]\ndiffusers = 1\n", None),
        ("notes.txt", "diffusers\n", None),
        (
            "requirements.txt",
            "torch\ngit+https://github.com/huggingface/diffusers.git@main\n",
            "torch\ndiffusers==1.0\n",
        ),
        ("requirements.txt", "git+https://github.com/huggingface/diffusers # newest\n", "diffusers==1.0 # newest\n"),
        ("requirements.txt", "diffusers @ git+https://github.com/a/b.git#egg=x\n", "diffusers==1.0\n"),
        ("requirements.txt", "git+https://github.com/huggingface/diffusers-extras.git\n", None),
        (
            "pyproject.toml",
            'project.dependencies = ["diffusers @ git+https://e.org/b"]\n',
            'project.dependencies = ["diffusers==1.0"]\n',
        ),
        (
            "pyproject.toml",
            '[tool.poetry.dependencies]\ndiffusers = "^0.31"\n',
            '[tool.poetry.dependencies]\ndiffusers = "==1.0"\n',
        ),
        (
            "pyproject.toml",
            '[tool.poetry.group.gpu.dependencies]\ndiffusers = {version = "^0.31", extras = ["torch"]}\n',
            '[tool.poetry.group.gpu.dependencies]\ndiffusers = {version = "==1.0", extras = ["torch"]}\n',
        ),
        (
            "pyproject.toml",
            "[project] # ours\ndependencies = [\n  'Diffusers[x] <1 ; os_name == \"posix\"',  # new\n  'a'\n]\n",
            "[project] # ours\ndependencies = [\n  'Diffusers[x]==1.0 ; os_name == \"posix\"',  # new\n  'a'\n]\n",
        ),
        (
            "pyproject.toml",
            '[project]\r\nname = "diffusers"\r\n[project.optional-dependencies]\r\nall = ["diffusers>=0.3"]\r\n',
            '[project]\r\nname = "diffusers"\r\n[project.optional-dependencies]\r\nall = ["diffusers==1.0"]\r\n',
        ),
        ("pyproject.toml", '[tool.isort]\nknown_third_party = ["diffusers"]\n', None),
        ("pyproject.toml", 'dependencies = ["diffusers>=0.3"\n', None),
        (
            "setup.cfg",
            "[options]\ninstall_requires =\n    diffusers>=0.3\n",
            "[options]\ninstall_requires =\n    diffusers==1.0\n",
        ),
        ("setup.cfg", "[metadata]\nname = diffusers\n", None),
        ("setup.cfg", "[isort]\nknown_third_party =\n    diffusers\n", None),
        ("requirements.txt", "torch\r\ndiffusers>=0.3\r\n", "torch\r\ndiffusers==1.0\r\n"),
        ("requirements.txt", "-e git+https://github.com/a/diffusers#egg=diffusers\n", "diffusers==1.0\n"),
        ("requirements.txt", "diffusers==0.3 --hash=sha256:0a1b\n", None),
        ("requirements.txt", "diffusers==0.3 \\\n    --hash=sha256:0a1b\n", None),
        ("constraints.txt", "diffusers>=0.3;python_version>'3'\n", "diffusers==1.0;python_version>'3'\n"),
    ],
)
def test_pins_a_release(path: str, before: str, after: str | None) -> None:
    pin = pin_version("diffusers", "1.0", [path], lambda name: before.encode())
    assert [edit.after.decode() for edit in pin.edits] == ([after] if after else [])
