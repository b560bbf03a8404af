"""The data that the rules work on: values, names, tables, the order of a queue, and the state.

    message, queue, positions, cursors, waiting, descriptors    values, and tables of their states
    names       path names, format names, schemes, multicast addresses
    events      requests to the manager, and its answers
    facts       what becomes true;  tables: where it lies on disk
    order       the messages of a queue in their order;  message_store, bodies: the messages themselves
    state       all state of the manager, in the parts of `parts` and of queue_state
    feature     what a feature registers;  protocol, travel: what a protocol registers, and its signals
    directory, history, security, staging    values and state of the features with these names

It imports `base` and `wire`, and no other layer of queueing: nothing here decides anything about a request.
Begin with `message`, `queue` and `state`.
"""
