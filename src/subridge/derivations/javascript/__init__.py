"""The derived expressions of Prop. 2 as JavaScript, for the explorer.

Every formula is written twice: as it is derived, and in an arrangement whose terms do not cancel. A formula is printed
only after SymPy has found the two equal, so that what runs in the page is what was proved.

``python -m subridge.derivations.javascript FILE`` writes the module.
"""
