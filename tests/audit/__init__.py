"""What tries the audit itself, and what is hard for Publius alone: a checkout's, not the wheel's."""
