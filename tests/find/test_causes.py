"""The place of a cause: the line of the repository that made the tensor, or the line that failed by it."""

from devfix.find.causes import Explanation, Seen, cause_of
from devfix.find.suites import SuiteKind
from devfix.model import Diagnosis, Event, Failure, Finding, Frame, ModuleOwner, Operand, SourceLocation

FAILS = SourceLocation("library/blur.py", 9, "forward", owned=True)
MAKES = SourceLocation("library/blur.py", 4, "kernel", owned=True)
TEST = SourceLocation("tests/test_blur.py", 3, "test_blur", owned=True)
DOCTEST = SourceLocation("lib/python3.11/doctest.py", 1355, "<module>")
TAKES = SourceLocation("library/blur.py", 6, "forward", owned=True)
KEEPS = SourceLocation("library/blur.py", 12, "Blur.__init__", owned=True)
KEEPS_FOR_ALL = SourceLocation("library/blur.py", 20, "Base.__init__", owned=True)
SEEN = Seen("tests/test_blur.py::test_blur", SuiteKind.tests, "cuda:0")


def place_of(
    made: SourceLocation, taken: SourceLocation | None = None, holder: SourceLocation | None = None
) -> SourceLocation:
    history = [Event("factory", "aten::ones", "cpu", (made, holder) if holder else (made,))]
    owner = ModuleOwner("blur", 0, "Blur", "kernel", "attribute") if holder else None
    if taken is not None:
        history.append(Event("move", "Tensor.cpu", "cpu", (taken,)))
    stray = Operand("other", "cpu", history=tuple(history), owner=owner)
    frames = tuple(Frame(place) for place in (TEST, FAILS))
    failure = Failure(
        "device-mismatch", "RuntimeError", "two devices", "aten::mul", frames, (Operand("self", "cuda:0"), stray)
    )
    diagnosis = Diagnosis("p/r", "a title", failure, Finding(1, "a reason"))
    return cause_of(failure, SEEN, Explanation((diagnosis,)), lambda place: place.path.startswith("tests/")).place


def test_a_cause_lies_where_the_code_under_test_made_the_tensor() -> None:
    assert place_of(MAKES) == MAKES


def test_a_cause_lies_where_it_fails_if_others_made_the_tensor() -> None:
    assert place_of(TEST) == FAILS, "a test made it"
    assert place_of(DOCTEST) == FAILS, "an example made it, which runs in a file that is not of the repository"


def test_a_cause_lies_where_the_code_under_test_took_what_others_made_to_the_host() -> None:
    assert place_of(TEST, TAKES) == TAKES
    assert place_of(MAKES, TAKES) == MAKES, "what it made itself is of the host from there on"
    assert place_of(TEST, TEST) == FAILS, "a test took it there"


def test_a_cause_lies_where_a_module_takes_what_a_function_made_for_it() -> None:
    assert place_of(MAKES, holder=KEEPS) == KEEPS
    assert place_of(MAKES, holder=KEEPS_FOR_ALL) == KEEPS_FOR_ALL, "a constructor that the class inherits"
    assert place_of(MAKES, holder=TAKES) == MAKES, "it is no method of the module"


def test_the_cause_of_a_buffer_lies_where_its_module_was_constructed() -> None:
    assert place_of_buffer(MAKES, KEEPS, KEEPS_FOR_ALL, FAILS, TEST) == FAILS
    assert place_of_buffer(KEEPS, TEST) == KEEPS, "a test constructed it"
    assert place_of_buffer(MAKES, FAILS, TEST) == MAKES, "no constructor made it"


def place_of_buffer(*places: SourceLocation) -> SourceLocation:
    owner = ModuleOwner("blur", 0, "Blur", "kernel", "buffer")
    stray = Operand("other", "cpu", history=(Event("factory", "aten::ones", "cpu", places),), owner=owner)
    frames = tuple(Frame(place) for place in (TEST, FAILS))
    operands = (Operand("self", "cuda:0"), stray)
    failure = Failure("device-mismatch", "RuntimeError", "two devices", "aten::mul", frames, operands)
    diagnosis = Diagnosis("p/r", "a title", failure, Finding(1, "a reason"))
    return cause_of(failure, SEEN, Explanation((diagnosis,)), lambda place: place.path.startswith("tests/")).place


def test_what_is_handed_to_numpy_lies_where_that_is_done() -> None:
    made = Operand("self", "cuda:0", history=(Event("factory", "aten::ones", "cuda:0", (MAKES,)),))
    frames = tuple(Frame(place) for place in (TEST, FAILS))
    failure = Failure("numpy-on-device", "TypeError", "can't convert", "torch.Tensor.numpy", frames, (made,))
    diagnosis = Diagnosis("p/r", "a title", failure, Finding(0, "a reason"))
    cause = cause_of(failure, SEEN, Explanation((diagnosis,)), lambda place: place.path.startswith("tests/"))
    assert cause.place == FAILS


def test_what_a_class_of_tensors_runs_for_its_caller_fails_where_that_calls() -> None:
    made = Operand("self", "cuda:0", history=(Event("factory", "aten::ones", "cuda:0", (MAKES,)),))
    runs = SourceLocation("library/tensors.py", 30, "MetaTensor.__torch_function__", owned=True)
    frames = tuple(Frame(place) for place in (TEST, FAILS, runs))
    failure = Failure("numpy-on-device", "TypeError", "can't convert", "torch.Tensor.numpy", frames, (made,))
    cause = cause_of(failure, SEEN, Explanation(), lambda place: place.path.startswith("tests/"))
    assert (cause.place, cause.failing) == (FAILS, FAILS)
