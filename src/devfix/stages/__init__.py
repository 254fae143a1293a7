"""The stages, each from one record to the next, and blind to each other; the pipeline knows their order."""
