"""Inputs that cannot be shared among the towers."""
