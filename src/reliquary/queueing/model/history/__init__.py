"""The history of messages as values: notes of a batch, its row, and what is known while it is kept.

It imports other modules of `model`.  Begin with `notes`; `changes.telling` says what each fact notes.
"""
