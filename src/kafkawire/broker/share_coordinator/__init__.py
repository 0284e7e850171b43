"""The share coordinator (KIP-932): what share groups have acknowledged, as recorded in ``__share_group_state``."""
