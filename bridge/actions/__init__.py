"""Actions: motions written as Actions, and clips read from them."""
