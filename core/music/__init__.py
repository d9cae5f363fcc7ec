"""Music: where its beats are, and how it looks on a time axis. It knows samples, never a file."""
