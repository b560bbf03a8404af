"""What `./dev run` shows: two managers, five protocols, a cut link, a killed server, and an audit by Spark.

sites.py     a server as a child process: start, kill, wait; both servers and their addresses
relay.py     the network between them, which can be cut
flows.py     one flow of orders for each protocol, and what arrived of it
waiting.py   waits that end with a sentence, and the fault that stops the story
pipelines.py the lake and the delivery audit over both histories, on Spark
play.py      the story in its order, and the table at its end
__main__.py  the options, the start of both servers, and the stop
"""
