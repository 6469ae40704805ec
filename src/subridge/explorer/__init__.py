"""Self-contained pages: the explorer, and reports that hold the data of a result.

One HTML file holds all it needs; nothing listens on a port and no request leaves the page. The formulas of the explorer
(``assets/formulas.js``) are proved equal to the derived expressions in ``tests/derivations/test_javascript.py``.
"""
