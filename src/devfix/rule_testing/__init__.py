"""Rule pages as tests: pages -> cases -> checks; `devfix test` and the pytest plugin run them on one bench."""
