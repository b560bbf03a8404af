r"""MQQP in a world of several sites: every site is a server of its queues, and a client of the others.

It may import `engine`, `store` and the rooms below, and no socket.  Begin with `plugin`.

    application at A --ReceiveMessages(DIRECT=OS:B\private$\inbox)--> manager and client role of A
        --CallServer--> network: connections of a link, which are cut, stuck and slow --ClientCalled-->
    server role and manager of B, whose queue local applications fill and read too

network        carries calls between the sites
connections    links, connections and calls as values
faults         what goes wrong there
stubs          some calls go through the codec, in an encoding that is drawn
drawing        the settings of a seed
applications   senders at the queues' own sites, and readers at others
packets        what the packets of a run say
readings       what all monitors together know of reads
serving        what is checked at the server
reading        what is checked at the client
monitor        both, at one site
promises       what must hold in the end
leavings       what must be empty in the end
plugin         all of these together
"""
