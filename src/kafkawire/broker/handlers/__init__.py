"""What answers requests: a module for each family of APIs."""
