"""The structures next to the best: the k best, all the best, all within so many nats."""
