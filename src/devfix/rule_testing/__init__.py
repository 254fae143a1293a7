"""Rule pages as tests: `devfix test` and the pytest plugin run the cases of pages on one bench."""
