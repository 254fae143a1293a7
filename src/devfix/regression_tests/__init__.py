"""Generate regression tests that are verified to fail before a fix and to pass with it."""

from devfix.regression_tests.candidates import Candidate, candidates, program
from devfix.regression_tests.existing_test import own_words
from devfix.regression_tests.layout import TestLayout, find_home
from devfix.regression_tests.verifier import RegressionTestVerifier, VerifiedTest

__all__ = [
    "Candidate",
    "RegressionTestVerifier",
    "TestLayout",
    "VerifiedTest",
    "candidates",
    "find_home",
    "own_words",
    "program",
]
