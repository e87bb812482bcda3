"""What searches that change a structure arc by arc share."""
