"""Tests of sender."""
