"""Messages that go elsewhere and come from there: outgoing queues, dispatch, arrivals, carriers."""
