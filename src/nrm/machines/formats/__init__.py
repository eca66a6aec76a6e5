"""Machines and tasks in files, one module a format."""
