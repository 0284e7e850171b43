"""Arguments of callers: the one place that compares them with the annotations, before anything is sent."""
