/* peer client URL [--count N] [--ask] [--offer] [--duplex] [--reply-to] [--resend] [--no-close] [--no-terminate]
                   [--soap 1|2] [--patience SECONDS] [--keep-alive]

   Creates a sequence, sends N messages "message 1" ... in it, closes and terminates it.  Lines on stdout, beside
   those of peer.h:
       sequence <identifier>                the sequence was created
       answer <sequence> <number> <text>    a response of --ask
       failed <number> ...                  a message that could not be sent, or whose response was lost
       unacknowledged <number>,...          before the sequence is closed, and at the end; "-" for none
       closed, terminated                   the destination has answered
   --duplex     listens on a port of its own, for acknowledgements, responses and faults
   --reply-to   says on each message too where its response goes; else only CreateSequence says it
   --resend     sends what is unacknowledged again, once, before the sequence is closed
   --patience   how long --duplex waits for something that does not come
   The exit code is 0 if the sequence was created, and closed and terminated as wanted.  */

#include "peer.h"

#include <getopt.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct wishes
{
  const char *url;
  int count, ask, offer, duplex, reply_to, resend, close, terminate, version, patience, keep_alive;
};

static volatile int over = 0;

static int is_over(void)
{
  return over;
}

static void *listen_for_peer(void *callback)
{
  peer_serve((struct soap *)callback, is_over, NULL);
  return NULL;
}

static int read_wishes(int count, char **arguments, struct wishes *wishes)
{
  static const struct option options[] = {
    {"count", required_argument, NULL, 'n'}, {"ask", no_argument, NULL, 'a'},
    {"offer", no_argument, NULL, 'o'},       {"duplex", no_argument, NULL, 'd'},
    {"reply-to", no_argument, NULL, 'r'},    {"resend", no_argument, NULL, 'e'},
    {"no-close", no_argument, NULL, 'c'},    {"no-terminate", no_argument, NULL, 't'},
    {"soap", required_argument, NULL, 's'},  {"patience", required_argument, NULL, 'p'},
    {"keep-alive", no_argument, NULL, 'k'},  {NULL, 0, NULL, 0}};
  int option;
  memset(wishes, 0, sizeof(*wishes));
  wishes->count = wishes->close = wishes->terminate = wishes->version = 1;
  wishes->patience = 20;
  while ((option = getopt_long(count, arguments, "", options, NULL)) != -1)
  {
    switch (option)
    {
      case 'n': wishes->count = atoi(optarg); break;
      case 'a': wishes->ask = 1; break;
      case 'o': wishes->offer = 1; break;
      case 'd': wishes->duplex = 1; break;
      case 'r': wishes->reply_to = 1; break;
      case 'e': wishes->resend = 1; break;
      case 'c': wishes->close = 0; break;
      case 't': wishes->terminate = 0; break;
      case 's': wishes->version = atoi(optarg); break;
      case 'p': wishes->patience = atoi(optarg); break;
      case 'k': wishes->keep_alive = 1; break;
      default: return 1;
    }
  }
  wishes->url = arguments[optind];
  return optind != count - 1;
}

/* The numbers of the messages that the plugin still keeps, because no acknowledgement covers them.  */
static int unacknowledged(soap_wsrm_sequence_handle sequence, char *line, size_t size)
{
  const struct soap_wsrm_message *each;
  int found = 0;
  size_t used = 0;
  line[0] = '\0';
  for (each = sequence->messages; each; each = each->next, found++)
    if (used + 24 < size)
      used += sprintf(line + used, "%s%llu", found ? "," : "", (unsigned long long)each->num);
  return found;
}

static void tell_unacknowledged(soap_wsrm_sequence_handle sequence)
{
  char line[8192];
  printf("unacknowledged %s\n", unacknowledged(sequence, line, sizeof(line)) ? line : "-");
}

/* Whether everything is acknowledged and answered; the end of --duplex's patience ends the wait too.  */
static int all_came(soap_wsrm_sequence_handle sequence, const struct wishes *wishes)
{
  char line[64];
  return !unacknowledged(sequence, line, sizeof(line))
      && (!wishes->ask || peer_answers() >= wishes->count);
}

static void wait_for_all(soap_wsrm_sequence_handle sequence, const struct wishes *wishes)
{
  int turns = wishes->patience * 100;
  while (turns-- && !all_came(sequence, wishes))
    usleep(10000);
}

static void wait_for_answers(int count, int patience)
{
  int turns = patience * 100;
  while (turns-- && peer_answers() < count)
    usleep(10000);
}

static void wait_for_action(const char *ending, int patience)
{
  int turns = patience * 100;
  while (turns-- && !peer_heard(ending))
    usleep(10000);
}

/* Read the answer to a one-way message: 202 or 200 without a body, or an envelope with acknowledgements.  */
static int take_answer(struct soap *soap)
{
  if (soap_begin_recv(soap))
  {
    if (soap->error == 202 || soap->error == 200 || soap->error == SOAP_NO_DATA)
      soap->error = SOAP_OK;
    return soap_closesock(soap);
  }
  if (soap_envelope_begin_in(soap) || soap_recv_header(soap))
    return soap_closesock(soap);
  if (soap_body_begin_in(soap) && soap->error != SOAP_NO_TAG)
    return soap_closesock(soap);
  if (soap_recv_fault(soap, 1))
    return soap->error;
  if (soap_body_end_in(soap) || soap_envelope_end_in(soap) || soap_end_recv(soap))
    return soap_closesock(soap);
  return soap_closesock(soap);
}

static int send_note(struct soap *soap, soap_wsrm_sequence_handle sequence, char *text)
{
  if (soap_send_ns__note(soap, soap_wsrm_to(sequence), NOTE_ACTION, text))
    return soap->error;
  return take_answer(soap);
}

static int send_ask(struct soap *soap, soap_wsrm_sequence_handle sequence, char *text)
{
  struct ns__askResponse response;
  response.answer = NULL;
  if (soap_call_ns__ask(soap, soap_wsrm_to(sequence), ASK_ACTION, text, &response))
  {
    if (soap->error == 202 || soap->error == SOAP_NO_TAG || soap->error == SOAP_NO_DATA)
      soap->error = SOAP_OK;
    return soap->error;
  }
  if (soap->header && soap->header->wsrm__Sequence)
    peer_tell_answer(soap->header->wsrm__Sequence->Identifier,
                     (unsigned long long)soap->header->wsrm__Sequence->MessageNumber, response.answer);
  else
    peer_tell_answer("-", 0, response.answer);
  return SOAP_OK;
}

static void send_all(struct soap *soap, soap_wsrm_sequence_handle sequence, const struct wishes *wishes,
                     const char *listens)
{
  int number;
  for (number = 1; number <= wishes->count; number++)
  {
    char text[64];
    const char *action = wishes->ask ? ASK_ACTION : NOTE_ACTION;
    const char *id = soap_wsa_rand_uuid(soap);
    int failed;
    sprintf(text, "message %d", number);
    failed = number < wishes->count ? soap_wsrm_request(soap, sequence, id, action)
                                    : soap_wsrm_request_acks(soap, sequence, id, action);
    if (!failed && wishes->reply_to)
      failed = soap_wsa_add_ReplyTo(soap, listens ? listens : soap_wsa_anonymousURI);
    if (!failed)
      failed = wishes->ask ? send_ask(soap, sequence, text) : send_note(soap, sequence, text);
    if (failed)
    {
      printf("failed %d\n", number);
      peer_tell_fault(soap);
    }
    else if (wishes->ask && wishes->duplex)
      /* Responses that overtake each other on two connections would be dropped by this plugin.  */
      wait_for_answers(number, wishes->patience);
  }
}

static int end_sequence(struct soap *soap, soap_wsrm_sequence_handle sequence, const struct wishes *wishes)
{
  if (wishes->close)
  {
    if (soap_wsrm_close(soap, sequence, soap_wsa_rand_uuid(soap)))
      return soap->error;
#ifdef SOAP_WSRM_2007
    if (wishes->duplex)
      wait_for_action("/CloseSequenceResponse", wishes->patience);
#else
    if (wishes->duplex)
      wait_for_all(sequence, wishes);
#endif
    printf("closed\n");
  }
  tell_unacknowledged(sequence);
  if (wishes->terminate)
  {
#ifdef SOAP_WSRM_2007
    if (soap_wsrm_terminate(soap, sequence, soap_wsa_rand_uuid(soap)))
      return soap->error;
    if (wishes->duplex)
      wait_for_action("/TerminateSequenceResponse", wishes->patience);
#else
    /* gSOAP's RM 1.0 server answers with a TerminateSequence of the offered sequence, or of none, and its client
       then misses its own identifier: the answer is there, whatever the client says of it.  */
    if (soap_wsrm_terminate(soap, sequence, soap_wsa_rand_uuid(soap)) && !peer_heard("/TerminateSequence"))
      return soap->error;
    soap->error = SOAP_OK;
#endif
    printf("terminated\n");
    tell_unacknowledged(sequence);
  }
  return SOAP_OK;
}

static int converse(struct soap *soap, const struct wishes *wishes, const char *listens)
{
  soap_wsrm_sequence_handle sequence;
  const char *offered = wishes->offer ? NULL : "";
  int turns = wishes->patience * 100;
  if (soap_wsrm_create_offer(soap, wishes->url, listens, offered, 600000, NoDiscard, NULL, &sequence))
    return soap->error;
  while (turns-- && !soap_wsrm_seq_created(soap, sequence))
    usleep(10000);
  if (!soap_wsrm_seq_created(soap, sequence))
    return soap_receiver_fault(soap, "no CreateSequenceResponse came", NULL);
  printf("sequence %s\n", sequence->id);
  send_all(soap, sequence, wishes, listens);
  if (wishes->duplex)
    wait_for_all(sequence, wishes);
  tell_unacknowledged(sequence);
  if (wishes->resend)
  {
    soap_wsrm_resend(soap, sequence, 0, 0);
    if (wishes->duplex)
      wait_for_all(sequence, wishes);
  }
  return end_sequence(soap, sequence, wishes);
}

int client_main(int count, char **arguments)
{
  struct wishes wishes;
  struct soap *soap, *callback = NULL;
  pthread_t listener;
  char listens[64];
  int failed;
  if (read_wishes(count, arguments, &wishes))
    return 2;
  soap = peer_context(wishes.keep_alive);
  soap_set_version(soap, (short)wishes.version);
  if (wishes.duplex)
  {
    callback = peer_context(0);
    sprintf(listens, "http://127.0.0.1:%d/", peer_listen(callback));
    printf("listening %s\n", listens);
    pthread_create(&listener, NULL, listen_for_peer, callback);
  }
  failed = converse(soap, &wishes, wishes.duplex ? listens : NULL);
  if (failed)
    peer_tell_fault(soap);
  over = 1;
  if (wishes.duplex)
    pthread_join(listener, NULL);
  return failed ? 1 : 0;
}
