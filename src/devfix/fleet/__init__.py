"""Repair or search many repositories, on one machine or on a Ray cluster."""
