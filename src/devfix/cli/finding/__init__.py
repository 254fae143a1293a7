"""`devfix find`: arguments, output, and repairs of what is found."""
