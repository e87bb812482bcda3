"""Where codes are kept, a file for each place; `bestdag.data.encoder.Sink` says what one is."""
