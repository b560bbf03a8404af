"""Batches from outside: written in parts that nobody sees, published as a whole and once.

StageMessages ...  --> message rows, and positions without a place     for each attempt of each part
CompleteStage      --> the part may be published
PublishBatch       --> all parts get their places, and the ledger knows the batch: one write
"""
