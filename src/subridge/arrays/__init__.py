"""Array libraries, devices, memory and random streams, which every other room uses."""
