"""The server's side of logins: SASL's mechanisms, and the states that a login goes through."""
