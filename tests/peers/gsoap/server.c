/* peer server [--acknowledge]

   Listens on a port of 127.0.0.1 that the system chooses, and says which: "listening <port>".  It ends when its
   stdin ends.  Each message that it accepts is a line: "accepted <sequence> <number> note|ask <text>".
   One-way messages are answered with a bare 202, as gSOAP's manual has it: acknowledgements to an address of their
   own go out about every 100 ms, those to the anonymous address only when the sequence is closed or a response
   carries them.  With --acknowledge the answer to a one-way message is an envelope with the acknowledgement.  */

#include "peer.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

static int acknowledges = 0;

int server_answers_with_acknowledgements(void)
{
  return acknowledges;
}

static int stdin_has_ended(void)
{
  struct pollfd input = {STDIN_FILENO, POLLIN, 0};
  char rest[64];
  return poll(&input, 1, 0) > 0 && read(STDIN_FILENO, rest, sizeof(rest)) <= 0;
}

static void acknowledge_all(struct soap *soap)
{
  struct soap *own = soap_copy(soap);
  soap_wsrm_pulse(own, 2);
  soap_destroy(own);
  soap_end(own);
  soap_free(own);
}

int server_main(int count, char **arguments)
{
  struct soap *soap = peer_context(0);
  int port;
  acknowledges = count > 1 && !strcmp(arguments[1], "--acknowledge");
  port = peer_listen(soap);
  if (!port)
  {
    soap_print_fault(soap, stderr);
    return 1;
  }
  printf("listening %d\n", port);
  peer_serve(soap, stdin_has_ended, acknowledge_all);
  return 0;
}
