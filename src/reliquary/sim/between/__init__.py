"""What all worlds of several sites have in common, whatever protocol they speak with each other.

run             the sites of a seed, from the first start to the last comparison
correspondents  who writes from site to site, and reads what came
roads           what goes wrong between them
register        what all of them together know of a message
observer        the witness of one site
travel          why a message may leave an outgoing queue
promises        what must hold in the end
"""
