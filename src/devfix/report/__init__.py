"""A report as a record, and the record as JSON, text and commit messages: pure strings, nothing is written anywhere."""
