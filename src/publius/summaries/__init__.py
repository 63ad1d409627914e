"""What a collection says: noisy counts with the author as the unit, and what follows from them.

`groups` names the cells, `contributions` bounds what one author can move, `tables` adds the noise; everything beyond
sees noisy counts and public things only, so it costs nothing.
"""
