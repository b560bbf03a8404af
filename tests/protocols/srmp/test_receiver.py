"""Tests of receiver."""
