"""Checkpoints that were stored on one device and are loaded where it does not exist, or another one is used."""
