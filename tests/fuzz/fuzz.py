"""Coverage-guided fuzzing with atheris: `python tests/fuzz/fuzz.py letter|message|config|source SECONDS`.

It needs atheris in the interpreter that runs it (`make fuzz` sees to that); inputs that crash are left in
the folder at hand, under the name `crash-…`.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["devfix", "tomllib"]):
    from devfix.config import Config, read_config
    from devfix.errors import UserError
    from devfix.ignores import ignored
    from devfix.letter import read_all
    from devfix.sdk import keyword_added
    from devfix.source import File, SourceError

KINDS = Path(__file__).resolve().parents[2] / "src" / "devfix" / "probe" / "kinds.py"


def letter(data: bytes, folder: Path) -> None:
    """A letter of any bytes is read or told as trouble."""
    (folder / "1-0.json").write_bytes(data)
    found, trouble = read_all(folder, Path("/tree"), frozenset({"main.py"}))
    assert len(found) + len(trouble) == 1


def config(data: bytes, folder: Path) -> None:
    """A configuration of any bytes is read or refused."""
    (folder / "devfix.toml").write_bytes(data)
    try:
        assert isinstance(read_config(folder), Config)
    except UserError as error:
        assert str(error).startswith(str(folder))


def source(data: bytes, folder: Path) -> None:
    """A file of any bytes prints back, and an edit of a call in it keeps all other bytes; or it is refused."""
    ignored(b"# devfix: ignore[a/b]\n" + data, "a/b")
    try:
        file = File("m.py", data)
    except SourceError:
        return
    assert file.module.bytes == data
    import libcst

    calls = [node for node in file.within(file.module) if isinstance(node, libcst.Call)]
    for call in calls[:3]:
        start, stop = file._spans[call]
        text = file.module.code.encode()
        after = file.replaced({call: keyword_added(call, "d", "d")}).code.encode()
        assert after.startswith(text[:start]) and after.endswith(text[stop:])


def message(data: bytes, folder: Path) -> None:
    """A message of any text has a kind, or none."""
    assert isinstance(_kind_of(data.decode("utf-8", "surrogateescape")), str)


_names: dict[str, object] = {"__name__": "kinds"}
exec(compile(KINDS.read_text(), str(KINDS), "exec"), _names)
_kind_of: Callable[[str], str] = _names["kind_of"]  # type: ignore[assignment]
TARGETS = {each.__name__: each for each in (letter, message, config, source)}
SEEDS = {
    "letter": [
        b'{"schema": "devfix-letter/1", "failure": {"frames": [{"place": {"path": "/tree/main.py", "line": 1}}]}}'
    ],
    "message": [b"Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"],
    "config": [b'run = "python x.py"\ntimeout = 3\n[rules."a/b"]\nx = 1\n'],
    "source": [b"x = f(\n    a,  # c\n)\n", b"\xef\xbb\xbfif x:\r\n\ty = f'{g(a)}'\r\n"],
}

if __name__ == "__main__":
    target, seconds = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory() as name:
        corpus, place = Path(name, "corpus"), Path(name, "place")
        corpus.mkdir()
        place.mkdir()
        for number, seed in enumerate(SEEDS[target]):
            (corpus / str(number)).write_bytes(seed)
        atheris.Setup(
            [sys.argv[0], f"-max_total_time={seconds}", "-max_len=4096", "-timeout=20", str(corpus)],
            lambda data: TARGETS[target](data, place),
        )
        atheris.Fuzz()
