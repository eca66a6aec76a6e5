"""Grounding by expectation-maximisation: posterior letters of every step, and grounders that learn them."""
