"""How a surface looks, as values that a shader is given."""
