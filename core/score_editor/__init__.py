"""The score editor, without a screen: what lies where, what is drawn, what the mouse points at and what it changes."""
