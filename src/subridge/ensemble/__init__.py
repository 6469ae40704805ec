"""What an ensemble is: who sees what, with which ridge and noise, and how the members' outputs become one."""
