"""Symmetries of a machine: their group, and the search for its generators."""
