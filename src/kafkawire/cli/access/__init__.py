"""How commands reach a cluster: options, contexts, properties, connection, and what they ask before a change."""
