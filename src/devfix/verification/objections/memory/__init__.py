"""Objections to copies of memory that something else reads or writes."""
