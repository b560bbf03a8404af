/* A peer of multicast that is built on OpenPGM 5.3.

   peer send    NETWORK PORT UDP_PORT MTU NAME     each message of its input goes to the group
   peer receive NETWORK PORT UDP_PORT MTU NAME     each message of the group is written to its output

   NETWORK is an address of this computer and a group, as `10.77.0.2;234.1.1.1`.  A UDP_PORT of 0 means IP protocol 113.  NAME and PORT
   make the transport identifier, so that a peer that starts again has the one that it had before.
   In input and output a message is its length in four bytes, big-endian, and its bytes.  The peer ends when its
   input does.  A line "ready" on its error output says that it has joined the group.  */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <arpa/inet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <sys/select.h>
#include <pgm/pgm.h>

#define LARGEST (64 * 1024)
#define SOURCE_PORT 4321
#define ALIGNED 16
#define PACKETS 4096
#define PAUSE_AFTER_A_MESSAGE 5000

static void fail(const char *what, pgm_error_t *error)
{
  fprintf(stderr, "%s: %s\n", what, error && error->message ? error->message : strerror(errno));
  exit(1);
}

static void set(pgm_sock_t *sock, int option, int value)
{
  if (!pgm_setsockopt(sock, IPPROTO_PGM, option, &value, sizeof value))
  {
    fprintf(stderr, "option %#x: %s\n", option, strerror(errno));
    exit(1);
  }
}

static void set_source(pgm_sock_t *sock)
{
  const int heartbeats[] = {pgm_msecs(100), pgm_msecs(200), pgm_msecs(400), pgm_msecs(800), pgm_secs(1), pgm_secs(2)};
  set(sock, PGM_SEND_ONLY, 1);
  set(sock, PGM_TXW_SQNS, PACKETS);
  set(sock, PGM_AMBIENT_SPM, pgm_secs(2));
  pgm_setsockopt(sock, IPPROTO_PGM, PGM_HEARTBEAT_SPM, heartbeats, sizeof heartbeats);
}

static void set_receiver(pgm_sock_t *sock)
{
  set(sock, PGM_RECV_ONLY, 1);
  set(sock, PGM_RXW_SQNS, PACKETS);
  set(sock, PGM_PEER_EXPIRY, pgm_secs(300));
  set(sock, PGM_SPMR_EXPIRY, pgm_msecs(250));
  set(sock, PGM_NAK_BO_IVL, pgm_msecs(50));
  set(sock, PGM_NAK_RPT_IVL, pgm_msecs(500));
  set(sock, PGM_NAK_RDATA_IVL, pgm_secs(2));
  set(sock, PGM_NAK_DATA_RETRIES, 50);
  set(sock, PGM_NAK_NCF_RETRIES, 50);
}

/* Bytes of PGM before the data of a packet.  */
static size_t headers(int fragmented)
{
  size_t fragment = sizeof(struct pgm_opt_length) + sizeof(struct pgm_opt_header) + sizeof(struct pgm_opt_fragment);
  return sizeof(struct pgm_header) + sizeof(struct pgm_data) + (fragmented ? fragment : 0);
}

/* The MTU, a little less so that every part of a message is aligned like the first.  */
static int aligned_mtu(int mtu, int is_udp)
{
  size_t lower = sizeof(struct iphdr) + (is_udp ? sizeof(struct udphdr) : 0);
  return mtu - (mtu - lower - headers(1)) % ALIGNED;
}

static pgm_sock_t *open_socket(int sends, char **argv)
{
  pgm_sock_t *sock = NULL;
  pgm_error_t *error = NULL;
  struct pgm_addrinfo_t *network = NULL;
  struct pgm_sockaddr_t address;
  struct pgm_interface_req_t interface;
  int udp_port = atoi(argv[2]);
  if (!pgm_getaddrinfo(argv[0], NULL, &network, &error))
    fail("network", error);
  if (!pgm_socket(&sock, AF_INET, SOCK_SEQPACKET, udp_port ? IPPROTO_UDP : IPPROTO_PGM, &error))
    fail("socket", error);
  if (udp_port)
  {
    set(sock, PGM_UDP_ENCAP_UCAST_PORT, udp_port);
    set(sock, PGM_UDP_ENCAP_MCAST_PORT, udp_port);
  }
  set(sock, PGM_IP_ROUTER_ALERT, !udp_port);
  set(sock, PGM_MTU, aligned_mtu(atoi(argv[3]), udp_port != 0));
  if (sends)
    set_source(sock);
  else
    set_receiver(sock);
  memset(&address, 0, sizeof address);
  address.sa_port = atoi(argv[1]);
  address.sa_addr.sport = htons(SOURCE_PORT);
  if (!pgm_gsi_create_from_string(&address.sa_addr.gsi, argv[4], -1))
    fail("name", NULL);
  memset(&interface, 0, sizeof interface);
  interface.ir_interface = network->ai_recv_addrs[0].gsr_interface;
  if (!pgm_bind3(sock, &address, sizeof address, &interface, sizeof interface, &interface, sizeof interface, &error))
    fail("bind", error);
  for (unsigned i = 0; i < network->ai_recv_addrs_len; i++)
    if (!pgm_setsockopt(sock, IPPROTO_PGM, PGM_JOIN_GROUP, &network->ai_recv_addrs[i], sizeof(struct pgm_group_source_req)))
      fail("join", NULL);
  if (!pgm_setsockopt(sock, IPPROTO_PGM, PGM_SEND_GROUP, &network->ai_send_addrs[0], sizeof(struct pgm_group_source_req)))
    fail("group", NULL);
  set(sock, PGM_MULTICAST_LOOP, 0);
  set(sock, PGM_MULTICAST_HOPS, 1);
  set(sock, PGM_NOBLOCK, 1);
  if (!pgm_connect(sock, &error))
    fail("connect", error);
  pgm_freeaddrinfo(network);
  return sock;
}

/* The time until the socket wants to be called again, at most half a second.  */
static struct timeval pause_of(pgm_sock_t *sock, int status)
{
  struct timeval wait = {0, 500 * 1000};
  socklen_t size = sizeof wait;
  if (status == PGM_IO_STATUS_TIMER_PENDING)
    pgm_getsockopt(sock, IPPROTO_PGM, PGM_TIME_REMAIN, &wait, &size);
  if (wait.tv_sec > 0 || wait.tv_usec > 500 * 1000)
    wait = (struct timeval){0, 500 * 1000};
  return wait;
}

/* Handle all that came; the answer is the status after which there was no more.  */
static int receive_all(pgm_sock_t *sock, int writes)
{
  static char message[LARGEST];
  for (;;)
  {
    size_t length = 0;
    pgm_error_t *error = NULL;
    int status = pgm_recv(sock, message, sizeof message, 0, &length, &error);
    if (status == PGM_IO_STATUS_NORMAL)
    {
      uint32_t prefix = htonl(length);
      if (writes && (fwrite(&prefix, sizeof prefix, 1, stdout) != 1 || fwrite(message, length, 1, stdout) != 1 || fflush(stdout)))
        exit(1);
      continue;
    }
    if (status == PGM_IO_STATUS_RESET)
    {
      fprintf(stderr, "messages were lost\n");
      pgm_error_free(error);
      continue;
    }
    if (error)
      fail("receive", error);
    return status;
  }
}

static int has_input(pgm_sock_t *sock, int status)
{
  fd_set ready;
  int count = 1;
  struct timeval wait = pause_of(sock, status);
  FD_ZERO(&ready);
  FD_SET(0, &ready);
  pgm_select_info(sock, &ready, NULL, &count);
  return select(count, &ready, NULL, NULL, &wait) > 0 && FD_ISSET(0, &ready);
}

static int read_whole(void *to, size_t length)
{
  for (size_t done = 0; done < length;)
  {
    ssize_t count = read(0, (char *)to + done, length - done);
    if (count <= 0)
      return 0;
    done += count;
  }
  return 1;
}

/* Where a message must begin in memory, modulo ALIGNED.  OpenPGM 5.3 copies a part of a message into a packet with
   instructions that need both aligned alike, and crashes where they are not.  */
static size_t alignment(pgm_sock_t *sock, size_t length)
{
  int largest;
  socklen_t size = sizeof largest;
  pgm_getsockopt(sock, IPPROTO_PGM, PGM_MSSS, &largest, &size);
  return (sizeof(struct pgm_sk_buff_t) + headers(length > (size_t)largest)) % ALIGNED;
}

/* A limit of the rate would break off in the middle of a message, so the pause between messages is ours.  */
static void send_message(pgm_sock_t *sock, const char *message, size_t length)
{
  if (pgm_send(sock, message, length, NULL) != PGM_IO_STATUS_NORMAL)
    fail("send", NULL);
  usleep(PAUSE_AFTER_A_MESSAGE);
}

int main(int argc, char **argv)
{
  static char memory[LARGEST + ALIGNED] __attribute__((aligned(ALIGNED)));
  pgm_error_t *error = NULL;
  if (argc != 7)
  {
    fprintf(stderr, "usage: peer send|receive NETWORK PORT UDP_PORT MTU NAME\n");
    return 2;
  }
  if (!pgm_init(&error))
    fail("OpenPGM", error);
  int sends = !strcmp(argv[1], "send");
  pgm_sock_t *sock = open_socket(sends, argv + 2);
  fprintf(stderr, "ready\n");
  for (;;)
  {
    uint32_t length;
    int status = receive_all(sock, !sends);
    if (!has_input(sock, status))
      continue;
    if (!read_whole(&length, sizeof length))
      break;
    length = ntohl(length);
    char *message = memory + alignment(sock, length);
    if (length > LARGEST || !read_whole(message, length))
      fail("input", NULL);
    send_message(sock, message, length);
  }
  pgm_close(sock, true);
  pgm_shutdown();
  return 0;
}
