"""From batches to their records: as Arrow arrays for tables, as Python values for histories."""
