"""Actions: what a motion becomes, and clips that are made of them."""
