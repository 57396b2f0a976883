"""Runs the oracles of the five formats against the product."""
