"""Messages of the transaction_coordinator definitions."""
