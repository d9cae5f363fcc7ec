"""Music: its beats, and its waveform on a time axis. This package takes samples, never files."""
