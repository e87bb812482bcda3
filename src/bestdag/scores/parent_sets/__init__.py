"""The parent sets a search may need: listed, scored and made into tables."""
