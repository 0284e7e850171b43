"""ACLs: bindings and filters, which match, which decide, and which are valid."""
