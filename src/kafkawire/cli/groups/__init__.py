"""``kafkawire groups``: lists, members, lag, offsets that are reset."""
