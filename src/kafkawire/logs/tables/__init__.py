"""From records to rows: one module for each kind of table."""
