"""Array libraries, devices, memory and random streams, which all other subpackages use."""
