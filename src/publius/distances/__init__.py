"""Earth Mover's distance between documents: the ``E_d`` of epsilon*N*E_d-privacy (docs/theory.md, documents)."""
