"""How far a forecast would move with another pilot sample."""
