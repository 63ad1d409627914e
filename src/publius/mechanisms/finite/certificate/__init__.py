"""Exact constants of finite word mechanisms, certified on the vocabulary at hand (theory.md section 5)."""
