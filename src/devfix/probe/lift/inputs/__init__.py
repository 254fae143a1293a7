"""Inputs that test code makes or calls with, placed on the GPU."""
