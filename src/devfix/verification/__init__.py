"""Verification of candidates: what a fix must satisfy besides removing the failure."""
