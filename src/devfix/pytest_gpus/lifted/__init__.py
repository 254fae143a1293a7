"""`pytest --lift`: which files are test code, and what came of each lifted test."""
