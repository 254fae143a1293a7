"""Start the probe in the user's process: run the sitecustomize that this one replaces, and wait for `import torch`.

Almost nothing is imported here, since this runs in every Python process of the program, including those without torch.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # importing typing would cost more than everything else here
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
_ORDER = os.environ.get("DEVFIX_PROBE", "")
_traces = ""
_writes_bytecode = False  # of the probe itself, in devfix's installation: that of the program stays out of its worktree
_environment: dict[str, str] = {}  # that of the program, as it started
_PLUGIN = "devfix_probe_pytest"
_PACKAGE = "devfix probe"  # no import statement can ask for a module of this name


class _Waiting:
    """A meta path finder that finds nothing itself, and calls back when an awaited module has been executed."""

    def __init__(self, callbacks: dict[str, Callable[[], None]]) -> None:
        self.callbacks = callbacks

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Wrap the loader that another finder returns for an awaited module."""
        if name == _PLUGIN:  # the path may differ: pytest-xdist gives its workers that of another process
            from importlib.util import spec_from_file_location

            return spec_from_file_location(name, os.path.join(_HERE, name + ".py"))
        if _writes_bytecode and name.startswith(_PACKAGE):
            return _write_bytecode(name, path)
        if name not in self.callbacks:
            return None
        if name == "torch":
            _mark()
        spec: Any = None
        for finder in sys.meta_path:
            if finder is not self and hasattr(finder, "find_spec"):
                spec = finder.find_spec(name, path, target)
                if spec is not None:
                    break
        if spec is None or not hasattr(spec.loader, "exec_module"):
            return spec
        loader, execute = spec.loader, spec.loader.exec_module

        def exec_module(module: Any) -> None:
            del loader.exec_module
            resume = _pause_collection() if name == "torch" else _do_nothing
            try:
                execute(module)
                if callback := self.callbacks.pop(name, None):  # a spec may be requested and not used
                    callback()
            finally:
                resume()

        loader.exec_module = exec_module
        return spec


def _write_bytecode(name: str, path: Any) -> Any:
    """Return the spec of a module of the probe, whose bytecode is written where it is missing or old.

    An editable install has none, nor has one by uv, and to compile the probe takes 0.25 s of each process.
    """
    from importlib.machinery import PathFinder

    spec: Any = PathFinder.find_spec(name, path)
    if spec is not None and hasattr(spec.loader, "get_code"):
        compile_module = spec.loader.get_code

        def get_code(name: str) -> Any:
            outer, sys.dont_write_bytecode = sys.dont_write_bytecode, False
            try:
                return compile_module(name)
            finally:
                sys.dont_write_bytecode = outer

        spec.loader.get_code = get_code
    return spec


def _pause_collection() -> Callable[[], None]:
    """Disable the collector of cyclic garbage until the function that is returned is called.

    To import torch and the probe it walks their objects 400 times, which takes 0.27 s of 2 s of processor time, and
    finds next to nothing.
    """
    import gc

    if not gc.isenabled():
        return _do_nothing
    gc.disable()

    def resume() -> None:
        if not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()  # into the oldest generation: the next collection of young objects does not walk them
        gc.enable()

    return resume


def _do_nothing() -> None:
    pass


def _mark(problem: str = "") -> None:
    """Create a file that shows that the probe is in this process, and in its forks."""
    if not os.path.isdir(_traces):
        return
    try:
        with open("/proc/self/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        with open(f"{_traces}/{os.getpid()}.begun", "w") as file:
            file.write(":".join(fields[index].decode() for index in (23, 25, 45, 47)) + f"\n{problem}")
    except (OSError, IndexError):
        pass  # not on Linux, where there is no witness either


def torch_imported() -> None:
    """Load the probe's package under a private name, from its folder, and start it."""
    _mark()
    try:
        from importlib.util import module_from_spec, spec_from_file_location

        folder = os.path.dirname(_HERE)
        if _PACKAGE not in sys.modules:
            spec: Any = spec_from_file_location(
                _PACKAGE, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
            )
            package = module_from_spec(spec)
            sys.modules[_PACKAGE] = package
            spec.loader.exec_module(package)
        __import__(f"{_PACKAGE}.session.bootstrap")
        sys.modules[f"{_PACKAGE}.session.bootstrap"].begin(environment=_environment)
    except Exception as error:
        _mark(f"{type(error).__name__}: {error}")
        sys.stderr.write(f"devfix: the probe could not begin: {type(error).__name__}: {error}\n")


def _last() -> None:
    """Run after all exit functions of the program, which were registered later."""
    start = sys.modules.get(f"{_PACKAGE}.session.bootstrap")
    if start is not None:
        start.leave_program()


def _patch_unittest() -> None:
    runners = sys.modules.get(f"{_PACKAGE}.session.test_runners")
    if runners is not None:
        runners.hook_unittest()


def _chain() -> None:
    """Run the sitecustomize that this one hides, if there is one."""
    paths = [path for path in sys.path if os.path.abspath(path or ".") != _HERE]
    for finder in sys.meta_path:
        if getattr(finder, "__name__", "") == "PathFinder":
            spec = finder.find_spec("sitecustomize", paths)
            if spec is not None and spec.loader is not None:
                from _frozen_importlib import module_from_spec

                sys.modules["sitecustomize"] = module = module_from_spec(spec)
                spec.loader.exec_module(module)
            return


def _turn(original: str, owned: str) -> None:
    """Redirect import paths in the user's repository to the worktree, except environments inside it."""

    def turned(path: Any) -> Any:
        if not isinstance(path, str) or not path:
            return path
        real = os.path.realpath(path)
        if real != original and not real.startswith(original + os.sep):
            return path
        rest = real[len(original) :]
        if real == owned or real.startswith(owned + os.sep) or _load_original(original, rest):
            return path
        return owned + rest if os.path.exists(owned + rest) else path

    # A finder that handles an entry of its own keeps it; only plain folders are redirected.
    sys.path[:] = [turned(path) for path in sys.path]
    for name, module in list(sys.modules.items()):
        if name.startswith("__editable__") and isinstance(getattr(module, "MAPPING", None), dict):
            _turn_values(module.MAPPING, turned)
            _turn_values(getattr(module, "NAMESPACES", None), turned)
    for finder in sys.meta_path:
        for attribute in ("_redirections", "mapping", "known_source_files"):
            _turn_values(getattr(finder, attribute, None), turned)


def _turn_values(table: Any, turned: Callable[[Any], Any]) -> None:
    if isinstance(table, dict):
        for key, value in list(table.items()):
            if isinstance(value, str):
                table[key] = turned(value)
            elif isinstance(value, list):
                table[key] = [turned(item) for item in value]


def _add_sources(owned: str) -> None:
    """Make the packages in `src/` of the worktree importable, as an editable install of the repository would.

    Otherwise another copy is tested: an installed one, or that of another checkout. One with compiled modules is kept.
    """
    folder = os.path.join(owned, "src")
    declared = any(os.path.exists(os.path.join(owned, name)) for name in ("pyproject.toml", "setup.cfg", "setup.py"))
    if not declared or folder in sys.path or not os.path.isdir(folder) or _is_package(folder):
        return
    names = [name for name in os.listdir(folder) if _is_package(os.path.join(folder, name))]
    others = (os.path.join(path, name) for path in sys.path if isinstance(path, str) and path for name in names)
    if not names or any(_is_compiled(each) for each in others if _is_package(each)):
        return
    standard = os.path.dirname(os.__file__)
    own = [isinstance(path, str) and path.startswith(standard) and "-packages" not in path for path in sys.path]
    sys.path.insert(max((index + 1 for index, is_standard in enumerate(own) if is_standard), default=0), folder)


def _is_package(folder: str) -> bool:
    return os.path.exists(os.path.join(folder, "__init__.py"))


def _is_compiled(folder: str) -> bool:
    return any(name.endswith((".so", ".pyd")) for _, _, names in os.walk(folder) for name in names)


def _load_original(original: str, rest: str) -> bool:
    parts = rest.split(os.sep)
    if "site-packages" in parts or "dist-packages" in parts:
        return True
    return any(os.path.exists(original + os.sep.join(parts[:end]) + "/pyvenv.cfg") for end in range(2, len(parts) + 1))


def _enter() -> None:
    global _traces, _writes_bytecode
    import atexit
    import json

    try:
        order = json.loads(_ORDER)
        original, owned = order.get("original"), order.get("owned")
        _traces = str(order.get("traces") or "")
        _writes_bytecode = order.get("bytecode") is True
    except (ValueError, AttributeError):
        sys.stderr.write("devfix: DEVFIX_PROBE is not a JSON object\n")
        return
    if original and owned and os.path.realpath(original) != os.path.realpath(owned):
        _turn(os.path.realpath(original), os.path.realpath(owned))
        _add_sources(os.path.realpath(owned))
    kept = os.environ.pop("DEVFIX_CUDA_VISIBLE_DEVICES", "")  # set by a parent that hid the machine's real GPUs
    if kept.startswith("set "):
        os.environ["CUDA_VISIBLE_DEVICES"] = kept[4:]
    elif kept:
        os.environ.pop("CUDA_VISIBLE_DEVICES", None)
    plugins = [name for name in os.environ.get("PYTEST_PLUGINS", "").split(",") if name]
    if _PLUGIN not in plugins:
        os.environ["PYTEST_PLUGINS"] = ",".join([*plugins, _PLUGIN])
    _environment.update(os.environ)
    sys.meta_path.insert(0, _Waiting({"torch": torch_imported, "unittest": _patch_unittest}))
    atexit.register(_last)  # the first one registered runs last


if _ORDER:
    _enter()
if __name__ == "sitecustomize":  # in a prefork server the user's own has run already
    _chain()
