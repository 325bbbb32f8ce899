"""Phase A: a matured history of R and F becomes a proposal that a human builds."""
