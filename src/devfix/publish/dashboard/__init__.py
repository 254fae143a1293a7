"""One issue that lists what devfix found, with check boxes that drive it."""
