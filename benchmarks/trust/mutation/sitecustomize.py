"""See `sightings`."""

import sightings  # noqa: F401
