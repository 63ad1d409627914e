"""Accounting: what was spent on whom, and a budget that refuses when it is spent."""

from publius.privacy.guarantee import Unit
from publius.privacy.ledger.amounts import COUNTED, Amount, as_written, exact_amount, price
from publius.privacy.ledger.ledger import Account, Charge, Ledger

__all__ = ["COUNTED", "Account", "Amount", "Charge", "Ledger", "Unit", "as_written", "exact_amount", "price"]
