"""Pages with data in them, in the look of the explorer: what a command found, to read, to hover over and to send on.

A result becomes a `Report` (sentences, panels, a table); names that come from a user's file are escaped by the template
and reach the page's script as JSON.
"""
