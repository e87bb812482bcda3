"""How sure each arc is: bootstrap, exact posterior probabilities, Markov chains, averages."""
