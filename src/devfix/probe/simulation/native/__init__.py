"""The hot paths of the simulation in C++: where they are stored, how they are loaded, and how they are built."""
