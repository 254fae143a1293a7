"""A local page with a program, a rule, and what the rule makes of the program's failure, while both are edited."""
