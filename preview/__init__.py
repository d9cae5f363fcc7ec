"""Drawing of bound characters with Takt's own shaders."""
