"""Messages of the proposals/kip_248 definitions."""
