"""One ensemble through the stages: match ridges, transfer, uncertainty, and what lies beyond reach."""
