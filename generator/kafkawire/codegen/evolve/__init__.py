"""``schema diff`` and ``schema check``: what changed between two sets of definitions, and whether it is compatible."""
