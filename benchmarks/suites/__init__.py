"""Whole test suites of public projects on the CPU and on simulated GPUs: how they are run, and what is told of them."""
