"""Pages that work by themselves: the explorer, and reports with data in them.

One HTML file holds all it needs; nothing listens on a port and no request leaves the page. The functions in the
explorer are printed by SymPy from the derived expressions (:mod:`subridge.derivations.javascript`).
"""
