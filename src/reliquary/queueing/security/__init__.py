"""Checks who may make a request, and changes access lists.

    permits       for each request of the manager's own rules, what its user needs
    permissions   access lists are changed, and waits that they forbid are ended

`rules.permission` decides whether a user has a right; other features have permits of their own. It
imports `rules`, `changes` and `model`, and of the features only `directory.membership`. Begin with
`permits`.
"""
