"""What can be done: one module for each family of operations, each operation a declaration to the engine."""
