"""What learns again and again: cross-validation, saturation, grids of settings."""
