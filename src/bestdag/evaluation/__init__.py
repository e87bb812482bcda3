"""How good an answer is: measures for classifiers."""
