"""Images as features: folders and published collections, the networks that see them, and the sets they become."""
