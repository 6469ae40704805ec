"""Self-contained pages: the explorer, and reports that hold the data of a result.

One HTML file holds all that it needs: nothing listens on a port, and the page sends no request. A test,
``tests/derivations/test_javascript.py``, shows that the formulas of the explorer (``assets/formulas.js``) equal the
derived expressions.
"""
