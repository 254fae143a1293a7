"""Programs in which a framework places tensors, and misses one."""
