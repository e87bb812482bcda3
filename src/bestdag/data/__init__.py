"""Tables in: variables, datasets and the readers that make them."""
