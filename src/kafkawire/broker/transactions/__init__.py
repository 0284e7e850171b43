"""Transactions: the coordinator, whose state is in ``__transaction_state`` (KIP-98, KIP-890)."""
