"""``kafkawire configs`` with the words of other tools: today's kafka-configs, and the command that KIP-248 proposes."""
