"""Whether the code does what the theorems say, exactly and by draws; and anybody's mechanism against its claim."""
