"""The explorer and a small service, on loopback: the server renders the views, one small script swaps them."""
