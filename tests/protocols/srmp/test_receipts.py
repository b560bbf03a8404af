"""Tests of receipts."""
