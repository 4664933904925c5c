"""Benchmarks as their authors publish them, opened as questions and the documents that these are asked of."""

from tasks.benchmarks.opening import open_benchmark
from tasks.benchmarks.rows import BenchmarkError

__all__ = ["BenchmarkError", "open_benchmark"]
