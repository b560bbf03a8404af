"""What `./dev run` shows: two managers, five protocols, a cut link, a killed server, and an audit by Spark.

sites.py     a server as a child process: start, kill, wait
flows.py     one flow of orders for each protocol, and what arrived of it
waiting.py   waits that end with a sentence, and the fault that stops the story
pipelines.py the lake and the delivery audit over both histories, on Spark
__main__.py  the story in its order, the table at the end, and the stop
"""
