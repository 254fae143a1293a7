"""Somebody's test suite in a world with GPUs: the pytest plugin behind `pytest --gpus N`."""
