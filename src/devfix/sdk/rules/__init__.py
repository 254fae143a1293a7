"""What rules are made of: the context that they are given, the sites that they edit, the classes they derive from."""
