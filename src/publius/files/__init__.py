"""Reading with limits and writing durably: every file that Publius opens or makes goes through here."""
