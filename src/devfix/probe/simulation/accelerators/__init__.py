"""Kinds of accelerator, the devices of a world, their messages and random streams."""
