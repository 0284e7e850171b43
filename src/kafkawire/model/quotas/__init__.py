"""Client quotas: entities and filters, which match, which one holds, and which are valid."""
