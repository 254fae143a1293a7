"""Programs that leave devices to a framework, and a tensor that the framework does not see."""
