"""Pages of rules: their headings, cases, and the selection of cases."""
