"""Describe values as code that makes them again."""
