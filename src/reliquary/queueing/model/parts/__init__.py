"""Contains the parts of the manager's state; a part has the values that change together.

Each part says which rules write it; `tests/queueing/model/test_state.py` compares that with the code.
A part imports values of the model, and no other part.  Begin with `turn`.
"""
