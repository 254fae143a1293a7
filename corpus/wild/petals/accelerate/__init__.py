"""Stands in for the real package: nothing is loaded here."""

from contextlib import nullcontext as init_empty_weights
