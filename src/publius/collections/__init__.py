"""Collections: whose documents count, in which cells, with how much noise. The author is who is protected.

Two collections are neighbors if they differ in all documents of one author. `contributions` bounds what one author
can move, `strata` names the cells, `tables` adds the noise and cleans what comes out, `novelty` compares with public
texts or an earlier summary, `accuracy` says beforehand how far counts may be off. Everything beyond `tables` sees noisy
counts only.
"""
