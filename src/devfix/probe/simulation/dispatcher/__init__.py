"""Run operators: the dispatch mode, and the shorter paths around it."""
