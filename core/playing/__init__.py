"""From a sequence of segments to poses at any instant."""
