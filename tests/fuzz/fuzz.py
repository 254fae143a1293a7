"""Coverage-guided fuzzing with atheris: `python tests/fuzz/fuzz.py trace|message|config|source SECONDS`.

It needs atheris in the interpreter that runs it (`make fuzz` sees to that); inputs that crash are left in
the folder at hand, under the name `crash-…`.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import atheris
from seeds import LARGEST, ROOT, SEEDS

# The fuzzer is led by what a message's patterns would match as well; the other targets are quicker without.
if "message" in sys.argv:
    atheris.enabled_hooks.add("RegEx")
with atheris.instrument_imports(include=["devfix", "kinds", "tomllib"]):
    from devfix.config import Config, read_config
    from devfix.errors import UserError
    from devfix.registry.suppressions import find_suppressions
    from devfix.sdk import add_keyword
    from devfix.source import File, SourceError
    from devfix.trace import read_all

    # Alone and by its path: the package around it would import torch and change it.
    sys.path.insert(0, str(ROOT / "src" / "devfix" / "probe" / "capture"))
    import kinds

    sys.path.pop(0)

# Which pattern matched is hidden in `re`: a branch of its own for each kind shows the fuzzer that it has reached one.
REACHED = {
    kind: atheris.instrument_func(lambda data: 1 if data else 0) for kind in ("", *(kind for kind, _ in kinds._KINDS))
}
TRACE = 1 << 16  # bytes: the traces of small programs fit


def trace(data: bytes, folder: Path) -> None:
    """A trace of any bytes is read or told as problem."""
    (folder / "1-0.json").write_bytes(data)
    found, problem = read_all(folder, Path("/tree"), frozenset({"main.py"}))
    assert len(found) + len(problem) == 1


def config(data: bytes, folder: Path) -> None:
    """A configuration of any bytes is read or refused."""
    for name in ("devfix.toml", "pyproject.toml"):
        (folder / name).unlink(missing_ok=True)
    (folder / ("pyproject.toml" if b"[tool." in data else "devfix.toml")).write_bytes(data)
    try:
        assert isinstance(read_config(folder), Config)
    except UserError as error:
        assert str(error).startswith(str(folder))


def source(data: bytes, folder: Path) -> None:
    """A file of any bytes prints back, and an edit of a call in it keeps all other bytes; or it is refused."""
    find_suppressions(b"# devfix: ignore[a/b]\n" + data, "a/b")
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
        after = file.replace({call: add_keyword(call, "d", "d")}).code.encode()
        assert after.startswith(text[:start]) and after.endswith(text[stop:])


def message(data: bytes, folder: Path) -> None:
    """A message of any text has a kind, or none."""
    REACHED[kinds.kind_of(data.decode("utf-8", "surrogateescape"))](data)


def mutated(data: bytes, largest: int, seed: int) -> bytes:
    """Change one value in a trace, or put another of its values there; bytes where it is no JSON, or by chance."""
    chance = random.Random(seed)
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        document = None
    places = list(_places(document))
    if not places or chance.random() < 0.1:
        return atheris.Mutate(data, largest)
    holder, key = chance.choice(places)
    other, name = chance.choice(places)
    strange = (None, True, -1, 0, 10**400, 1e308, "", "\x1b[31m", "\ud800", "/tree/../x", [], {}, other[name])
    holder[key] = json.loads(json.dumps(chance.choice(strange)))
    changed = json.dumps(document).encode()
    return changed if len(changed) <= largest else atheris.Mutate(data, largest)


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a document that holds a value, as what holds it and the key or number under which it does."""
    found, todo = [], [value]
    while todo:
        each = todo.pop()
        keys = list(each) if isinstance(each, dict) else range(len(each)) if isinstance(each, list) else ()
        found += [(each, key) for key in keys]
        todo += [each[key] for key in keys]
    return found


TARGETS = {each.__name__: each for each in (trace, message, config, source)}

if __name__ == "__main__":
    target, seconds = sys.argv[1], sys.argv[2]
    with tempfile.TemporaryDirectory() as name:
        corpus, place = Path(name, "corpus"), Path(name, "place")
        corpus.mkdir()
        place.mkdir()
        for number, seed in enumerate(SEEDS[target]()):
            (corpus / str(number)).write_bytes(seed)
        atheris.Setup(
            [
                sys.argv[0],
                f"-max_total_time={seconds}",
                f"-max_len={TRACE if target == 'trace' else LARGEST}",
                "-timeout=20",
                "-print_final_stats=1",
                str(corpus),
            ],
            lambda data: TARGETS[target](data, place),
            **({"custom_mutator": mutated} if target == "trace" else {}),
        )
        atheris.Fuzz()
