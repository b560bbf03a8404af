"""MQQP over DCE/RPC: how calls of other managers become events, and calls of ours leave.

serving   our server: calls --> events, effects --> responses
courier   our client: effects --> calls, responses --> events
"""
