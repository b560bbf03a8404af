/* What the client and the server of the gSOAP peer share.

   Both say what happens on stdout, one line an event:
       headers <action> [sequence <identifier> <number>]     a message came in, by a request or a response
       acknowledgement <identifier> <ranges> [final] [none] [nack <number>] [room <count>]
       fault <code> <text>                                    a fault came in, or the plugin refused to go on  */

#ifndef PEER_H
#define PEER_H

#include "soapH.h"
#include "wsrmapi.h"

#define NOTE_ACTION "urn:reliquary:notes/note"
#define ASK_ACTION "urn:reliquary:notes/ask"
#define ANSWER_ACTION "urn:reliquary:notes/askResponse"

/* Return a context with both plugins, which prints the headers of incoming messages on stdout.  */
struct soap *peer_context(int keep_alive);

/* Listen on 127.0.0.1 and a port that the system chooses; return the port, 0 for a failure.  */
int peer_listen(struct soap *soap);

/* Serve requests, each in a thread of its own, until `ended` says so; call `idle` about every 100 ms.  */
void peer_serve(struct soap *soap, int (*ended)(void), void (*idle)(struct soap *));

/* How often a message came in whose action ends with these words.  */
int peer_heard(const char *ending);

/* Tell a response of `ask` on stdout; sequence and number are "-" and 0 where it came outside any sequence.  */
void peer_tell_answer(const char *sequence, unsigned long long number, const char *text);

/* The number of responses that were printed.  */
int peer_answers(void);

/* Tell the fault of a context on stdout.  */
void peer_tell_fault(struct soap *soap);

/* Return whether one-way messages are answered with an acknowledgement, not with a bare 202.  */
int server_answers_with_acknowledgements(void);

int client_main(int count, char **arguments);
int server_main(int count, char **arguments);

#endif
