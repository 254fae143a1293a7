"""The kinds of accelerator that a repository claims to support, by what its code asks for and its documents say."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from devfix.model import DeviceType

# What only code that supports the kind says. Its name in a string stands in tables and lists too.
_CALLS = {
    DeviceType.MPS: ("torch.backends.mps", "torch.mps."),
    DeviceType.XPU: ("torch.xpu.",),
}
_CODE = (".py", ".ipynb")


def claimed_devices(containing: Callable[[Sequence[str]], Sequence[str]]) -> tuple[DeviceType, ...]:
    """Return the kinds besides CUDA that the code of a repository asks for; `containing` finds its files with a text.

    >>> [each.value for each in claimed_devices(lambda texts: ["pick.py"] if "torch.xpu." in texts else ["README.md"])]
    ['xpu']
    """
    return tuple(device for device, texts in _CALLS.items() if any(path.endswith(_CODE) for path in containing(texts)))


_DOCUMENT = re.compile(r"(readme|install|getting.?started|quick.?start|usage|index|faq|devices?|hardware)\b.*", re.I)
_HISTORY = re.compile(r"(changelog|changes|history|news|releases?|todo|roadmap|contributing)\b.*", re.I)
_SUFFIXES = ("", ".md", ".rst", ".txt", ".markdown")
_METADATA = ("pyproject.toml", "setup.cfg", "setup.py")
_OPTION = (
    r"""(--?\w*(device|accelerator)\w*[ =]|\b(device|accelerator)\s*[=:]\s*)[`"']*{name}\b|[`"']{name}(:0)?[`"']"""
)
_SIGNS = {
    DeviceType.MPS: (
        ("mps", "MPS", "Apple", "Metal"),
        re.compile(
            rf"{_OPTION.format(name='mps')}|\b[Aa]pple[ -][Ss]ilicon\b|\bMetal Performance Shaders\b|"
            r"\b(Apple|Mac\w*|Metal|CUDA|GPU)\b.{0,80}\bMPS\b|\bMPS\b.{0,80}\b(Apple|Mac\w*|Metal|CUDA|GPU|backend)\b"
        ),
    ),
    DeviceType.XPU: (
        ("xpu", "XPU", "Intel"),
        re.compile(rf"{_OPTION.format(name='xpu')}|\bIntel\b.{{0,40}}\b(XPUs?|GPUs?|Arc)\b"),
    ),
}
# Multi-Process Service and matrix product states are called MPS too.
_DENIED = re.compile(
    r"\b(not|no|never|without|unsupported|cannot|except|lacks?|untested|todo|planned|future|soon|issue|wip)\b|n't\b|"
    r"\[ \]|❌|✗|multi-process|nvidia-cuda-mps|matrix product",
    re.I,
)


@dataclass(frozen=True)
class DocumentedDevice:
    """A kind of accelerator, and the line of a document that claims it."""

    device: DeviceType
    path: str
    line: int


def documented_devices(
    containing: Callable[[Sequence[str]], Sequence[str]], content: Callable[[str], bytes | None]
) -> Iterator[DocumentedDevice]:
    """Yield the kinds besides CUDA that documents claim, each with the first line that does.

    `containing` finds the files of a repository with one of some texts, `content` gives a file. Documents are the
    README, pages for users in `docs`, and the metadata of the package. A line that denies something claims nothing.

    >>> text = b"Runs on CUDA and on Apple silicon (MPS).\\nIntel GPUs are not supported.\\n"
    >>> [each.device.value for each in documented_devices(lambda texts: ["README.md"], {"README.md": text}.get)]
    ['mps']
    """
    for device, (texts, pattern) in _SIGNS.items():
        for path in sorted(filter(_is_document, containing(texts)), key=lambda path: (path.count("/"), path)):
            lines = (content(path) or b"").decode("utf-8", "replace").splitlines()
            found = (at for at, line in enumerate(lines, 1) if pattern.search(line) and not _DENIED.search(line))
            if line := next(found, 0):
                yield DocumentedDevice(device, path, line)
                break


def _is_document(path: str) -> bool:
    """Return whether a file tells users of the repository as a whole what they can do."""
    found = PurePosixPath(path)
    if path in _METADATA:
        return True
    if found.suffix.lower() not in _SUFFIXES or _HISTORY.match(found.name):
        return False
    return (len(found.parts) == 1 and found.name.lower().startswith("readme")) or (
        found.parts[0] in ("docs", "doc") and bool(_DOCUMENT.match(found.name))
    )
