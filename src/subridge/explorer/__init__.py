"""Self-contained pages: the explorer, and reports that hold the data of a result.

One HTML file holds all it needs; nothing listens on a port and no request leaves the page. SymPy prints the formulas of
the explorer from the derived expressions (:mod:`subridge.derivations.javascript`).
"""
