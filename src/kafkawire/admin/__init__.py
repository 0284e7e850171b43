"""The admin client: what Kafka's administrators do, asyncio first."""
