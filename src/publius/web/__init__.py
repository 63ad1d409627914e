"""The explorer: a page for a curator and a service for programs, on this machine only."""
