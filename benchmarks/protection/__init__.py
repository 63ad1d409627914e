"""The standing benchmark of protection: what is kept and what is given away, on public corpora that the user has."""
