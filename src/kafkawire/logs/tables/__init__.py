"""From batches to rows: one module for each kind of table."""
