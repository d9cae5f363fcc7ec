"""Binding a mesh to a skeleton: each method is a function from a `BindInput` to `Influences`, in a file of its own."""
