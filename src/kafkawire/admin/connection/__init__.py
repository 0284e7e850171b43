"""The connection to one broker: a state machine without sockets, and a thin asyncio transport around it."""
