"""Which releases of torch a repository says that it supports."""

import pytest

from devfix.source import Sources
from devfix.source.queries.requirements import declared_minimum


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("pyproject.toml", 'dependencies = ["numpy>=1.2", "torch>=2.4.1,<3"]\n', (2, 4, 1)),
        ("pyproject.toml", 'torch = "^2.1"\n', (2, 1)),
        ("pyproject.toml", 'torch = {version = ">=1.13", source = "pytorch"}\n', (1, 13)),
        ("setup.py", 'install_requires=["torch >= 2.0", "torchvision>=0.9"]\n', (2, 0)),
        ("requirements/dev-requirements.txt", "torchvision>=0.9\ntorch==2.6.0\n", (2, 6, 0)),
        ("requirements.txt", "pytorch-lightning>=1.5\ntorch-geometric>=1.0\ntorch\n", ()),
        ("requirements.txt", "torch  # not >=1.0\n", ()),
        ("notes.txt", "torch>=1.0\n", ()),
        ("environment.yml", "dependencies:\n  - torch>=2.3\n", (2, 3)),
    ],
)
def test_the_lowest_release_is_that_of_a_file_that_declares_requirements(
    path: str, text: str, expected: tuple[int, ...]
) -> None:
    assert declared_minimum(Sources({path: text.encode()}.get, lambda texts: [path]), "torch") == expected


def test_of_several_files_the_lowest_counts() -> None:
    files = {"setup.cfg": b"torch>=2.10\n", "requirements.txt": b"torch>=2.9\n"}
    assert declared_minimum(Sources(files.get, lambda texts: list(files)), "torch") == (2, 9)
