"""The near-optimal structures: the k best, all the best, all within so many nats."""
