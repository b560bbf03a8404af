/* The gSOAP peer: `peer client ...` or `peer server ...`; what both share, and the operations of the service.  */

#include "peer.h"
#include "notes.nsmap"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define MOST_HEARD 100000

static pthread_mutex_t heard_lock = PTHREAD_MUTEX_INITIALIZER;
static char *heard[MOST_HEARD];
static int heard_count = 0;
static int answers = 0;
static int (*process_headers)(struct soap *) = NULL;

static void remember(const char *action)
{
  pthread_mutex_lock(&heard_lock);
  if (heard_count < MOST_HEARD)
    heard[heard_count++] = strdup(action);
  pthread_mutex_unlock(&heard_lock);
}

int peer_heard(const char *ending)
{
  int i, found = 0;
  pthread_mutex_lock(&heard_lock);
  for (i = 0; i < heard_count; i++)
  {
    size_t length = strlen(heard[i]), wanted = strlen(ending);
    if (length >= wanted && !strcmp(heard[i] + length - wanted, ending))
      found++;
  }
  pthread_mutex_unlock(&heard_lock);
  return found;
}

static void tell_acknowledgement(const struct _wsrm__SequenceAcknowledgement *ack)
{
  char line[4096];
  int i, used = 0;
  line[0] = '\0';
  for (i = 0; i < ack->__sizeAcknowledgementRange && used < (int)sizeof(line) - 64; i++)
    used += sprintf(line + used, "%s%llu-%llu", i ? "," : "",
                    (unsigned long long)ack->AcknowledgementRange[i].Lower,
                    (unsigned long long)ack->AcknowledgementRange[i].Upper);
  for (i = 0; i < ack->__sizeNack && used < (int)sizeof(line) - 64; i++)
    used += sprintf(line + used, " nack %llu", (unsigned long long)ack->Nack[i]);
  if (ack->None)
    used += sprintf(line + used, " none");
  if (ack->Final)
    used += sprintf(line + used, " final");
  if (ack->netrm__BufferRemaining)
    sprintf(line + used, " room %d", *ack->netrm__BufferRemaining);
  printf("acknowledgement %s %s\n", ack->Identifier ? ack->Identifier : "", line);
}

/* The hook at the end of every message that comes in, before the plugin's own.  */
static int tell_headers(struct soap *soap)
{
  struct SOAP_ENV__Header *header = soap->header;
  if (header)
  {
    const char *action = header->wsa5__Action ? header->wsa5__Action : "";
    int i;
    if (header->wsrm__Sequence)
      printf("headers %s sequence %s %llu\n", action, header->wsrm__Sequence->Identifier,
             (unsigned long long)header->wsrm__Sequence->MessageNumber);
    else
      printf("headers %s\n", action);
    for (i = 0; i < header->__sizeSequenceAcknowledgement; i++)
      tell_acknowledgement(&header->wsrm__SequenceAcknowledgement[i]);
    i = process_headers(soap);
    remember(action);
    return i;
  }
  return process_headers(soap);
}

void peer_tell_fault(struct soap *soap)
{
  const char **code, **text;
  if (!soap->error)
    return;
  soap_set_fault(soap);
  code = soap_faultsubcode(soap);
  text = soap_faultstring(soap);
  printf("fault %s %s (error %d)\n", code && *code ? *code : "-", text && *text ? *text : "-", soap->error);
}

void peer_tell_answer(const char *sequence, unsigned long long number, const char *text)
{
  printf("answer %s %llu %s\n", sequence, number, text ? text : "");
  pthread_mutex_lock(&heard_lock);
  answers++;
  pthread_mutex_unlock(&heard_lock);
}

int peer_answers(void)
{
  int count;
  pthread_mutex_lock(&heard_lock);
  count = answers;
  pthread_mutex_unlock(&heard_lock);
  return count;
}

struct soap *peer_context(int keep_alive)
{
  struct soap *soap = soap_new1(SOAP_C_UTFSTRING | (keep_alive ? SOAP_IO_KEEPALIVE : 0));
  soap_register_plugin(soap, soap_wsa);
  soap_register_plugin(soap, soap_wsrm);
  process_headers = soap->fpreparefinalrecv;
  soap->fpreparefinalrecv = tell_headers;
  soap->bind_flags = SO_REUSEADDR;
  soap->connect_timeout = soap->send_timeout = soap->recv_timeout = 20;
  return soap;
}

int peer_listen(struct soap *soap)
{
  struct sockaddr_storage place;
  socklen_t size = sizeof(place);
  if (!soap_valid_socket(soap_bind(soap, "127.0.0.1", 0, 100)))
    return 0;
  if (getsockname(soap->master, (struct sockaddr *)&place, &size))
    return 0;
  if (place.ss_family == AF_INET6)
    return ntohs(((struct sockaddr_in6 *)&place)->sin6_port);
  return ntohs(((struct sockaddr_in *)&place)->sin_port);
}

static void *serve_one(void *argument)
{
  struct soap *soap = (struct soap *)argument;
  pthread_detach(pthread_self());
  soap_serve(soap);
  soap_destroy(soap);
  soap_end(soap);
  soap_free(soap);
  return NULL;
}

void peer_serve(struct soap *soap, int (*ended)(void), void (*idle)(struct soap *))
{
  soap->accept_timeout = -100000;
  while (!ended())
  {
    if (soap_valid_socket(soap_accept(soap)))
    {
      struct soap *own = soap_copy(soap);
      pthread_t thread;
      if (pthread_create(&thread, NULL, serve_one, own))
        serve_one(own);
    }
    else if (idle)
      idle(soap);
  }
}

/* ---------------------------------------------------------------------------- the service */

typedef void tell_fn(const char *sequence, unsigned long long number, const char *text);

static void tell_note(const char *sequence, unsigned long long number, const char *text)
{
  printf("accepted %s %llu note %s\n", sequence, number, text ? text : "");
}

static void tell_ask(const char *sequence, unsigned long long number, const char *text)
{
  printf("accepted %s %llu ask %s\n", sequence, number, text ? text : "");
}

/* Check the number of a message with one of the plugin's functions, and print that it was accepted.  Each request has
   a thread, and the plugin sends 202 before it looks at the number.  So the next message could overtake this one: it
   would be dropped as out of order, or printed first.  Therefore both happen under one lock.  */
static int accept_message(struct soap *soap, int (*check)(struct soap *), tell_fn *tell, const char *text)
{
  static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
  int error;
  pthread_mutex_lock(&turn);
  error = check(soap);
  if (!error)
    tell(soap->header->wsrm__Sequence->Identifier,
         (unsigned long long)soap->header->wsrm__Sequence->MessageNumber, text);
  pthread_mutex_unlock(&turn);
  return error;
}

/* Send an envelope without a body whose header is the acknowledgement of the sequence of this request.  */
static int answer_with_acknowledgement(struct soap *soap)
{
  if (soap_wsrm_reply_num(soap, 0))
    return soap->error;
  soap->header->wsrm__Sequence = NULL;
  if (soap_wsa_reply(soap, soap_wsa_rand_uuid(soap), SOAP_NAMESPACE_OF_wsrm "/SequenceAcknowledgement"))
    return soap->error;
  soap_serializeheader(soap);
  if (soap_begin_count(soap))
    return soap->error;
  if ((soap->mode & SOAP_IO_LENGTH)
   && (soap_envelope_begin_out(soap) || soap_putheader(soap) || soap_body_begin_out(soap)
    || soap_body_end_out(soap) || soap_envelope_end_out(soap)))
    return soap->error;
  if (soap_end_count(soap) || soap_response(soap, SOAP_OK) || soap_envelope_begin_out(soap)
   || soap_putheader(soap) || soap_body_begin_out(soap) || soap_body_end_out(soap)
   || soap_envelope_end_out(soap) || soap_end_send(soap))
    return soap->error;
  return SOAP_OK;
}

int ns__note(struct soap *soap, char *text)
{
  if (!server_answers_with_acknowledgements())
    return accept_message(soap, soap_wsrm_check_send_empty_response, tell_note, text);
  if (accept_message(soap, soap_wsrm_check, tell_note, text))
    return soap->error;
  return answer_with_acknowledgement(soap);
}

int ns__ask(struct soap *soap, char *text, struct ns__askResponse *response)
{
  if (accept_message(soap, soap_wsrm_check, tell_ask, text))
    return soap->error;
  response->answer = soap_strdup(soap, text ? text : "");
  return soap_wsrm_reply(soap, soap_wsa_rand_uuid(soap), ANSWER_ACTION);
}

int ns__askResponse(struct soap *soap, char *answer)
{
  if (soap->header && soap->header->wsrm__Sequence)
    return accept_message(soap, soap_wsrm_check_send_empty_response, peer_tell_answer, answer);
  soap_send_empty_response(soap, 202);
  peer_tell_answer("-", 0, answer);
  return SOAP_OK;
}

int SOAP_ENV__Fault(struct soap *soap, char *faultcode, char *faultstring, char *faultactor,
                    struct SOAP_ENV__Detail *detail, struct SOAP_ENV__Code *code,
                    struct SOAP_ENV__Reason *reason, char *node, char *role, struct SOAP_ENV__Detail *detail12)
{
  const char *name = faultcode, *text = faultstring;
  (void)faultactor; (void)detail; (void)node; (void)role; (void)detail12;
  if (code)
    name = code->SOAP_ENV__Subcode ? code->SOAP_ENV__Subcode->SOAP_ENV__Value : code->SOAP_ENV__Value;
  if (reason)
    text = reason->SOAP_ENV__Text;
  printf("fault %s %s (sent to us)\n", name ? name : "-", text ? text : "-");
  return soap_send_empty_response(soap, 202);
}

int main(int count, char **arguments)
{
  setvbuf(stdout, NULL, _IOLBF, 0);
  signal(SIGPIPE, SIG_IGN);
  if (count > 1 && !strcmp(arguments[1], "client"))
    return client_main(count - 1, arguments + 1);
  if (count > 1 && !strcmp(arguments[1], "server"))
    return server_main(count - 1, arguments + 1);
  fprintf(stderr, "usage: peer client|server ...\n");
  return 2;
}
