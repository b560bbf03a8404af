"""The client role, [MS-MQQP] 3.2: queues of other managers, read for applications of ours.

requests --> links (opening, closing) --> tasks (reading) --> settling, receipts --> the answer
"""
