"""The services that have repositories and their pull requests: one interface, and a client for each."""
