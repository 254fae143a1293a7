"""Stands in for the real one, which begins by importing the client and all models."""
