"""Tables of what each operator checks, which dtypes it takes, and how it runs."""
