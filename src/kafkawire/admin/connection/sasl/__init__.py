"""Logging in: credentials, and the exchanges of tokens that prove them to a broker (RFC 4616, 5802, 7628, 7677)."""
