"""Accounting: what was spent on whom, and a budget that refuses when it is spent."""

from publius.accounting.amounts import Amount, Unit, exact_amount, price
from publius.accounting.ledger import Account, Charge, Ledger

__all__ = ["Account", "Amount", "Charge", "Ledger", "Unit", "exact_amount", "price"]
