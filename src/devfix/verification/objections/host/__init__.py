"""Objections to moving what other code needs, shares or keeps on the host."""
