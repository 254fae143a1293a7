"""Describe values as code that recreates them."""
