"""Finding the files of logs, and reading their bytes."""
