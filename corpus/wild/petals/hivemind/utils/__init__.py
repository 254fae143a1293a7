"""Stands in for the real package, a network of peers: the self-test wants its logger alone."""
