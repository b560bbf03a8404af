"""Batches of writers: written in parts that no reader sees, published as a whole and once.

    StageMessages ...  --> message rows, and positions without a place     for each attempt of each part
    CompleteStage      --> the part may be published
    PublishBatch       --> all parts get their places, and the ledger knows the batch: one write
                           a large batch gets hidden places in several turns, and the last one shows them

    stage, publish, ledger, sweep    the rules;  permits: who may write and publish
    parts, places, turns             chunks by queue, their positions, and batches of several turns
    apply, recording                   the changes that facts make, and their history events

It imports `rules`, `changes` and `model`, and no other feature.  Begin with `stage`, then `publish`.
"""
