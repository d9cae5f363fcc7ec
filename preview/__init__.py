"""Drawing of bound characters by the project's own shaders."""
