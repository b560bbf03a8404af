"""The history of messages as values: notes of a batch, its row, and the state of the history in memory.

It imports other modules of `model`.  Begin with `notes`; `changes.recording` says what each fact notes.
"""
