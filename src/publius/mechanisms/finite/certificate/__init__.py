"""Exact constants of finite word mechanisms, certified on the vocabulary at hand (docs/theory.md section 5)."""
