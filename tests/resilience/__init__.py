"""Tests of webseam.resilience. Time is a clock in the test's hand; processes are real ones."""
