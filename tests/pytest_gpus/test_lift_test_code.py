"""`pytest --lift`: which files are test code."""

from __future__ import annotations

import pytest
from suite_runs import run


@pytest.mark.slow
def test_a_folder_testing_is_test_code_at_the_root_alone(pytester: pytest.Pytester) -> None:
    for folder in (pytester.mkpydir("testing"), pytester.mkpydir("library") / "testing"):
        folder.mkdir(exist_ok=True)
        folder.joinpath("base.py").write_text("import torch\ndef made():\n    return torch.ones(1)\n")
    pytester.makepyfile(
        "import library.testing.base as code, testing.base as helper\n"
        "def test_it():\n    assert helper.made().is_cuda and not code.made().is_cuda\n"
    )
    run(pytester, "--lift", "--world", "simulated").assert_outcomes(passed=1)


@pytest.mark.slow
def test_a_helper_of_a_package_is_test_code_if_it_imports_what_runs_tests(pytester: pytest.Pytester) -> None:
    package = pytester.mkpydir("library")
    made = "import torch\ndef made():\n    return torch.ones(1)\n"
    package.joinpath("testing.py").write_text(
        f"from unittest import TestCase\n{made}"
        "class Case(TestCase):\n    def check(self, one, other):\n        torch.testing.assert_close(one, other)\n"
    )
    package.joinpath("_testing.py").write_text(made)
    package.joinpath("values.py").write_text(f"import unittest\n{made}")
    package.joinpath("test_data.py").symlink_to("nowhere.py")
    pytester.makepyfile(
        "import torch\nfrom library import _testing, testing, values\n"
        "class TestMade(testing.Case):\n"
        "    def test_it(self):\n"
        "        assert testing.made().is_cuda and not _testing.made().is_cuda and not values.made().is_cuda\n"
        "        self.check(values.made(), torch.ones(1))\n"
    )
    run(pytester, "--lift", "--world", "simulated").assert_outcomes(passed=1)


@pytest.mark.slow
def test_which_files_are_test_code_can_be_set(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nlift_tests = tools/inputs.py\npythonpath = tools\n")
    folder = pytester.mkdir("tools")
    for name in ("inputs", "others"):
        folder.joinpath(f"{name}.py").write_text("import torch\ndef made():\n    return torch.ones(1)\n")
    pytester.makepyfile(
        "import inputs, others\ndef test_it():\n    assert inputs.made().is_cuda and not others.made().is_cuda\n"
    )
    run(pytester, "--lift", "--world", "simulated").assert_outcomes(passed=1)


@pytest.mark.slow
def test_installed_packages_that_do_not_use_torch_work_for_the_test(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = site-packages\n")
    folder = pytester.mkdir("site-packages")
    folder.joinpath("waves.py").write_text(
        "import sys\nimport numpy as np\n"
        "class Lib:\n    __slots__ = ()\n    __class__ = property(lambda self: type(sys))\n"  # as those of cffi
        "sys.modules['waves.lib'] = Lib()\n"
        "def total(x):\n    return np.asarray(x).sum()\n"
    )
    folder.joinpath("layers.py").write_text("import torch\ndef total(x):\n    return x.numpy().sum()\n")
    pytester.makepyfile(
        "import layers, torch, waves\n"
        "def test_waves():\n    assert waves.total(torch.ones(3)) == 3\n"
        "def test_layers():\n    assert layers.total(torch.ones(3)) == 3\n"
    )
    done = run(pytester, "--lift", "--world", "simulated")
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(["*can't convert cuda:0 device type tensor to numpy*", "*test_layers*"])


PRINTS = """
import torch

def half(x):
    '''Halve.

    >>> import torch
    >>> half(torch.ones(1))
    tensor([0.5])  # 1 / 2
    >>> half(torch.ones(1)).device
    device(type='cpu')
    '''
    return x * torch.full((1,), 0.5)

def refused(x):
    '''Refuse.

    >>> refused(1)
    Traceback (most recent call last):
    ValueError: 2
    '''
    raise ValueError(x)
"""


@pytest.mark.slow
def test_output_of_examples_need_not_be_what_they_say(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(library=PRINTS)
    words = ("--lift", "--world", "simulated", "--doctest-modules", "--lift-any-output", "library.py")
    fixed = PRINTS.replace("0.5)", "0.5, device=x.device)")
    run(pytester, *words).assert_outcomes(failed=2)
    pytester.makepyfile(library=fixed)
    run(pytester, *words).assert_outcomes(passed=1, failed=1)
    run(pytester, *words[:4], "library.py").assert_outcomes(failed=2)


@pytest.mark.slow
def test_what_test_code_casts_on_the_host_is_cast_on_the_gpu(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npythonpath = .\n")
    pytester.makepyfile(
        library="""
        import torch

        def cast(x):
            with torch.autocast('cpu'):
                return x @ x

        @torch.autocast("cpu")
        def cast_whole(x):
            return x @ x
        """
    )
    pytester.makepyfile(
        """
        import torch
        from library import cast, cast_whole

        def product(x, **words):
            with torch.autocast(**words):
                return x @ x

        def test_cast():
            x = torch.ones(2, 2)
            assert product(x, device_type="cpu").dtype == torch.bfloat16
            assert product(x, device_type="cpu", dtype=torch.float16).dtype == torch.float16
            assert product(x, device_type="cpu", enabled=False).dtype == torch.float32
            assert cast(x).dtype == cast_whole(x).dtype == torch.float32
            assert product(torch.ones(2, 2, device="cpu"), device_type="cpu").dtype == torch.bfloat16
            assert (x @ x).dtype == torch.float32

        @torch.autocast("cpu")
        def test_decorated():
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16

        def test_contexts_in_contexts():
            x = torch.ones(2, 2)
            with torch.autocast("cuda", dtype=torch.float16):
                with torch.autocast("cpu"):
                    assert (x @ x).dtype == torch.bfloat16
                    with torch.autocast("cpu", enabled=False):
                        assert (x @ x).dtype == torch.float32
                    assert (x @ x).dtype == torch.bfloat16
                assert (x @ x).dtype == torch.float16
            assert (x @ x).dtype == torch.float32

        @torch.jit.script
        def scripted(x):
            with torch.autocast("cpu"):
                return x @ x

        def test_script():
            scripted(torch.ones(2, 2))
        """
    )
    run(pytester, "--lift", "--world", "simulated").assert_outcomes(passed=4)
