"""What was stored on one device and is read where that device does not exist or is another."""
