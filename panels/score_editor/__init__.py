"""Header, menus, sidebar and shortcuts of the score editor."""
