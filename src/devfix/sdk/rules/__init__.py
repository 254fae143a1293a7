"""The classes that rules derive from, the context they receive, and the sites that they edit."""
