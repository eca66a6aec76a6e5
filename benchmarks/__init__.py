"""Programs that measure; run them as `python -m benchmarks.NAME`."""
