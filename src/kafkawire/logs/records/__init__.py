"""The records of batches: as Arrow arrays for tables, as Python values for histories."""
