"""Implements the web console: pages for people, below /console on the control port.

It may import `client`, `net`, `views` and the rooms below.  Begin with `routes`.
`templates` has the HTML of the pages, and `static` what browsers load with them.

    request --> routes --> a page module --> views and events of the manager --> a template --> HTML
                                 |
                                 '--> charts and message bodies are made by pure functions

The pages of nouns (outgoing queues, streams, sessions and so on) are built from the declarations of
`reliquary.client.nouns`, so a new protocol has its pages without a change here. Every page works without
scripts: htmx only updates parts of a page. Rights are checked where the API checks them: pages ask the
manager by the events that the API uses, as the user who is signed in.
"""
