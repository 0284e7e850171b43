"""The rules about changes: one module for each family, the catalogue of all rules, and the walk that applies them."""
