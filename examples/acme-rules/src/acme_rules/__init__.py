"""Rules for the failures of Acme's own code."""
