"""Results as plain xarray datasets under named schemas."""
