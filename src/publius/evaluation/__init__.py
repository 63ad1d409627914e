"""Attacks on protected public texts: who is identified, beside what is known anyway and the most anybody can know."""
