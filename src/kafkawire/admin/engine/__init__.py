"""One engine for all operations: where a request goes, when it is sent again, and what became of each item."""
