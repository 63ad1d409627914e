"""Do this installation, this code and this machine keep their word: `doctor`, `audit`, `bench`."""
