"""GPUs simulated on the CPU: devices, operators and their checks."""
