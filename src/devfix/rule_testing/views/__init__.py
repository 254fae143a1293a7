"""Views of what a rule is given: the failure, its operands and the sources, as data and as text."""
