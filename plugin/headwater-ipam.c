/*
 * The CNI plugin headwater-ipam: carries one call of a container runtime to the agent of this node, and its answer back.
 * What a call means is decided in the agent. The plugin decides only what it must without one: which socket, what to say if
 * no agent answers, and that a DEL then waits in a file. libc alone, no threads.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

extern char **environ;

enum {
  max_stdin = 512 * 1024, /* escaped at most six times as long, mostly hardly longer: the agent takes 1 MiB */
  max_body = 1024 * 1024,
  max_answer = 4 * 1024 * 1024,
  max_deletes = 4096,
  max_depth = 64, /* levels of JSON: more is no configuration */
  max_silence = 5 /* s: an agent that lives says every 2 that it works on an answer */
};

static const char default_socket[] = "/var/run/headwater/agent.sock";
static const char versions[] = "[\"0.1.0\",\"0.2.0\",\"0.3.0\",\"0.3.1\",\"0.4.0\",\"1.0.0\",\"1.1.0\"]";

static char socket_path[sizeof(((struct sockaddr_un *)0)->sun_path)];
static char cni_version[32] = "1.1.0";

/* ---- what is printed ---- */

/* Returns whether all was written; otherwise errno says why not. */
static int write_all(int to, const char *text, size_t length) {
  while (length > 0) {
    ssize_t done = write(to, text, length);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return 0;
    text += done;
    length -= (size_t)done;
  }
  return 1;
}

/* If nobody reads it, the exit code still says it. */
static _Noreturn void answer(int code, const char *text, size_t length) {
  write_all(STDOUT_FILENO, text, length);
  exit(code);
}

/* Messages hold a path and the words of errno: what JSON escapes becomes '?'. */
static _Noreturn void fail(int code, const char *format, ...) {
  char message[1024], line[1280];
  va_list words;
  va_start(words, format);
  vsnprintf(message, sizeof message, format, words);
  va_end(words);
  for (char *at = message; *at != '\0'; at++)
    if (*at == '"' || *at == '\\' || (unsigned char)*at < 0x20) *at = '?';
  int length = snprintf(line, sizeof line, "{\"cniVersion\":\"%s\",\"code\":%d,\"msg\":\"%s\"}\n", cni_version, code, message);
  answer(1, line, (size_t)length);
}

/* ---- two texts of the configuration ---- */

static const char *skip_space(const char *at) {
  while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') at++;
  return at;
}

/* After the text that starts at the quote `at`; NULL if it does not end. */
static const char *skip_text(const char *at) {
  for (at++; *at != '\0'; at++) {
    if (*at == '\\' && at[1] != '\0') at++;
    else if (*at == '"') return at + 1;
  }
  return NULL;
}

/* After the value at `at`; NULL if that has no shape of JSON. Whether numbers and words are any is for the agent to say. */
static const char *skip_value(const char *at, int depth) {
  at = skip_space(at);
  if (*at == '"') return skip_text(at);
  if (*at != '{' && *at != '[') {
    size_t length = strcspn(at, ",:[]{}\" \t\r\n");
    return length == 0 ? NULL : at + length;
  }
  if (depth == max_depth) fail(6, "the network configuration has more than %d levels", max_depth);
  char end = *at == '{' ? '}' : ']';
  at = skip_space(at + 1);
  if (*at == end) return at + 1;
  for (;;) {
    if (end == '}') {
      if (*at != '"' || (at = skip_text(at)) == NULL || *(at = skip_space(at)) != ':') return NULL;
      at++;
    }
    if ((at = skip_value(at, depth + 1)) == NULL) return NULL;
    at = skip_space(at);
    if (*at == end) return at + 1;
    if (*at != ',') return NULL;
    at = skip_space(at + 1);
  }
}

/* Four hexadecimal digits; -1 if they are none. */
static int hexadecimal(const char *at) {
  int value = 0;
  for (int digit = 0; digit < 4; digit++, at++) {
    if (!isxdigit((unsigned char)*at)) return -1;
    value = value * 16 + (isdigit((unsigned char)*at) ? *at - '0' : tolower((unsigned char)*at) - 'a' + 10);
  }
  return value;
}

/* Copies a text of whole JSON without its escapes; returns whether it is one, fits, and escapes nothing beyond ASCII. */
static int copy_text(const char *at, char *to, size_t size) {
  size_t length = 0;
  if (*at++ != '"') return 0;
  for (; *at != '"'; at++) {
    int byte = (unsigned char)*at;
    if (byte == '\\') {
      static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
      const char *name = strchr(names, *++at);
      byte = *at == 'u' ? hexadecimal(at + 1) : name == NULL ? -1 : meanings[name - names];
      if (*at == 'u' && byte > 0) at += 4;
      if (byte <= 0 || byte > 0x7f) return 0;
    }
    if (length + 1 >= size) return 0;
    to[length++] = (char)byte;
  }
  to[length] = '\0';
  return length > 0;
}

/*
 * The value of a member of the object at `at`; NULL without one. Of two, the agent would take the other; and a name in other
 * letter case is this one for main plugins, whose JSON is read by Go.
 */
static const char *member(const char *at, const char *name) {
  const char *found = NULL;
  char key[64];
  if (at == NULL || *at != '{') return NULL;
  for (at = skip_space(at + 1); *at == '"';) {
    int is_it = copy_text(at, key, sizeof key) && strcasecmp(key, name) == 0;
    if (is_it && strcmp(key, name) != 0) fail(7, "%s: the network configuration has %s instead", name, key);
    at = skip_space(skip_space(skip_text(at)) + 1);
    if (is_it && found != NULL) fail(7, "%s: the network configuration has two", name);
    if (is_it) found = at;
    at = skip_space(skip_value(at, 0));
    if (*at != ',') break;
    at = skip_space(at + 1);
  }
  return found;
}

/* Reads all of it or refuses it: half of it may name another agent than the whole. */
static void read_configuration(const char *conf, size_t size) {
  char version[sizeof cni_version];
  if (strncmp(conf, "\xef\xbb\xbf", 3) == 0) fail(6, "the network configuration starts with a byte order mark: remove it");
  const char *whole = conf, *end;
  conf = skip_space(conf);
  end = skip_value(conf, 0);
  if (*conf != '{' || end == NULL || (size_t)(skip_space(end) - whole) != size)
    fail(6, "the network configuration is no JSON object");
  const char *given = member(conf, "cniVersion");
  if (given != NULL && copy_text(given, version, sizeof version) && strspn(version, "0123456789.") == strlen(version))
    strcpy(cni_version, version);
  const char *ipam = member(conf, "ipam");
  if (ipam != NULL && *ipam != '{' && strncmp(ipam, "null", 4) != 0) fail(7, "ipam: it is no object");
  given = member(ipam, "socket");
  strcpy(socket_path, default_socket);
  if (given != NULL && !copy_text(given, socket_path, sizeof socket_path))
    fail(7, "ipam.socket: accepted is a path of at most %zu bytes", sizeof socket_path - 1);
  if (socket_path[0] != '/') fail(7, "ipam.socket: %s is no absolute path", socket_path);
}

/* ---- the request ---- */

struct text {
  char *at;
  size_t length, size;
};

static void append(struct text *to, const char *from, size_t length) {
  if (length > to->size - to->length) fail(6, "the network configuration and CNI_ variables are too long");
  memcpy(to->at + to->length, from, length);
  to->length += length;
}

static void append_words(struct text *to, const char *words) { append(to, words, strlen(words)); }

static void append_json(struct text *to, const char *from, size_t length) {
  append_words(to, "\"");
  for (size_t at = 0; at < length; at++) {
    unsigned char byte = (unsigned char)from[at];
    char escaped[8];
    if (byte == '"' || byte == '\\') append(to, (char[]){'\\', (char)byte}, 2);
    else if (byte >= 0x20) append(to, from + at, 1);
    else append(to, escaped, (size_t)snprintf(escaped, sizeof escaped, "\\u%04x", byte));
  }
  append_words(to, "\"");
}

static size_t read_stdin(char *to) {
  size_t length = 0;
  for (;;) {
    ssize_t got = read(STDIN_FILENO, to + length, max_stdin + 1 - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(5, "cannot read the network configuration: %s", strerror(errno));
    if (got == 0) break;
    length += (size_t)got;
    if (length > max_stdin) fail(6, "the network configuration has more than %d bytes", max_stdin);
  }
  to[length] = '\0';
  return length;
}

static struct text request_body(const char *conf, size_t length) {
  struct text body = {malloc(max_body), 0, max_body};
  if (body.at == NULL) fail(5, "no memory");
  append_words(&body, "{\"env\":{");
  const char *comma = "";
  for (char **each = environ; *each != NULL; each++) {
    const char *value = strchr(*each, '=');
    if (value == NULL || strncmp(*each, "CNI_", 4) != 0) continue;
    append_words(&body, comma);
    append_json(&body, *each, (size_t)(value - *each));
    append_words(&body, ":");
    append_json(&body, value + 1, strlen(value + 1));
    comma = ",";
  }
  append_words(&body, "},\"stdin\":");
  append_json(&body, conf, length);
  append_words(&body, "}");
  return body;
}

/* ---- the agent ---- */

/* A connection to the agent; -1, and errno, without one. */
static int connect_agent(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strcpy(address.sun_path, socket_path);
  int agent = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), done;
  struct timeval wait = {max_silence, 0};
  if (agent < 0) return -1;
  setsockopt(agent, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
  setsockopt(agent, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
  do done = connect(agent, (struct sockaddr *)&address, sizeof address);
  while (done < 0 && errno == EINTR);
  if (done == 0) return agent;
  int why = errno;
  close(agent);
  errno = why;
  return -1;
}

/* The value of a header, up to the end of its line; NULL without it. The agent writes names in lower case. */
static const char *header(const char *head, const char *name) {
  const char *at = strstr(head, name);
  return at == NULL ? NULL : at + strlen(name);
}

/* Sends the request, prints the answer and exits as it says. Returns, with errno, only if no whole answer came. */
static void exchange(int agent, const struct text *body) {
  char head[160];
  int length = snprintf(head, sizeof head,
                        "POST /v1/cni HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
                        "content-type: application/json\r\ncontent-length: %zu\r\n\r\n", body->length);
  if (!write_all(agent, head, (size_t)length) || !write_all(agent, body->at, body->length)) return;
  char *got = malloc(max_answer + 1); /* of which only what is written to takes memory */
  size_t size = 0;
  while (got != NULL) {
    ssize_t more = read(agent, got + size, max_answer - size);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return;
    if (more == 0) break;
    size += (size_t)more;
  }
  if (got == NULL) return;
  got[size] = '\0';
  errno = EPROTO;
  while (strncmp(got, "HTTP/1.1 1", 10) == 0) { /* it says that it works on it */
    char *next = strstr(got, "\r\n\r\n");
    if (next == NULL) return;
    size -= (size_t)(next + 4 - got);
    got = next + 4;
  }
  char *out = strstr(got, "\r\n\r\n");
  if (out == NULL) return;
  *out = '\0';
  out += 4;
  const char *expected = header(got, "\r\ncontent-length: "), *exit_code = header(got, "\r\nx-cni-exit: ");
  size_t printed = size - (size_t)(out - got);
  if (expected == NULL || strtoul(expected, NULL, 10) != printed) return;
  if (exit_code == NULL) fail(5, "the agent at %s answered %.40s", socket_path, got);
  const char *note = header(got, "\r\nx-cni-note: ");
  if (note != NULL) fprintf(stderr, "headwater-ipam: %.*s\n", (int)strcspn(note, "\r\n"), note);
  answer(*exit_code == '0' ? 0 : 1, out, printed);
}

/* ---- a DEL that no agent answers ---- */

static uint32_t rotate(uint32_t word, int by) { return word >> by | word << (32 - by); }

/* SHA-256 (FIPS 180-4) as 64 hexadecimal digits. */
static void sha256(const struct text *of, char digits[65]) {
  uint32_t state[8], constants[64], schedule[64];
  int found = 0;
  for (uint32_t candidate = 2; found < 64; candidate++) { /* the fractions of roots of the first 64 primes */
    int is_prime = 1;
    for (uint32_t factor = 2; factor * factor <= candidate; factor++) is_prime &= candidate % factor != 0;
    if (!is_prime) continue;
    long double square = 1, cube = 1;
    for (int step = 0; step < 40; step++) square = (square + candidate / square) / 2;
    for (int step = 0; step < 60; step++) cube = (2 * cube + candidate / (cube * cube)) / 3;
    if (found < 8) state[found] = (uint32_t)((square - (uint32_t)square) * 4294967296.0L);
    constants[found++] = (uint32_t)((cube - (uint32_t)cube) * 4294967296.0L);
  }
  size_t padded = (of->length + 9 + 63) / 64 * 64;
  for (size_t block = 0; block < padded; block += 64) {
    for (int at = 0; at < 64; at++) {
      if (at >= 16) {
        uint32_t a = schedule[at - 15], b = schedule[at - 2];
        schedule[at] = schedule[at - 16] + schedule[at - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
                       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
        continue;
      }
      schedule[at] = 0;
      for (int byte = 0; byte < 4; byte++) {
        size_t from = block + (size_t)at * 4 + (size_t)byte;
        uint8_t value = from < of->length ? (uint8_t)of->at[from] : from == of->length ? 0x80 : 0;
        if (from >= padded - 8) value = (uint8_t)((uint64_t)of->length * 8 >> (padded - 1 - from) * 8);
        schedule[at] = schedule[at] << 8 | value;
      }
    }
    uint32_t v[8];
    memcpy(v, state, sizeof v);
    for (int at = 0; at < 64; at++) {
      uint32_t one = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) +
                     constants[at] + schedule[at];
      uint32_t two = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) +
                     ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
      memmove(v + 1, v, 7 * sizeof *v);
      v[4] += one;
      v[0] = one + two;
    }
    for (int at = 0; at < 8; at++) state[at] += v[at];
  }
  for (int at = 0; at < 8; at++) snprintf(digits + 8 * at, 9, "%08x", state[at]);
}

static int count_files(const char *directory) {
  int count = 0;
  DIR *opened = opendir(directory);
  if (opened == NULL) return 0;
  for (struct dirent *each; (each = readdir(opened)) != NULL;) count += each->d_name[0] != '.';
  closedir(opened);
  return count;
}

/* Whether folders may be made for the socket: a network may name any path. */
static int is_in_run_directory(void) {
  static const char *const parents[] = {"/var/run/headwater/", "/run/headwater/"};
  for (size_t at = 0; at < sizeof parents / sizeof *parents; at++)
    if (strncmp(socket_path, parents[at], strlen(parents[at])) == 0) return strstr(socket_path, "/..") == NULL;
  return 0;
}

/* Leaves the DEL for the agent, which replays it before it serves. */
static _Noreturn void queue_delete(const struct text *body, int is_absent) {
  char directory[256], digits[65], path[400], unfinished[432];
  int folder = (int)(strrchr(socket_path, '/') - socket_path);
  if (is_in_run_directory()) { /* whether they are there shows below */
    snprintf(directory, sizeof directory, "%.*s", (int)(strstr(socket_path, "/headwater/") - socket_path) + 10, socket_path);
    mkdir(directory, 0755);
    snprintf(directory, sizeof directory, "%.*s", folder, socket_path);
    mkdir(directory, 0755);
    snprintf(directory, sizeof directory, "%.*s/deleteQueue", folder, socket_path);
    mkdir(directory, 0700);
  }
  snprintf(directory, sizeof directory, "%.*s/deleteQueue", folder, socket_path);
  if (count_files(directory) >= max_deletes) fail(5, "%s is full: start the agent", directory);
  sha256(body, digits);
  snprintf(path, sizeof path, "%s/%s.delete", directory, digits);
  snprintf(unfinished, sizeof unfinished, "%s/.%s.%d", directory, digits, (int)getpid());
  int file = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) fail(5, "cannot write into %s: %s", directory, strerror(errno));
  if (!write_all(file, body->at, body->length) || close(file) < 0 || rename(unfinished, path) < 0) {
    int why = errno;
    unlink(unfinished);
    fail(5, "cannot write into %s: %s", directory, strerror(why));
  }
  /* An agent that came meanwhile has replayed its queue already. The same DEL twice does no harm. */
  int agent = is_absent ? connect_agent() : -1;
  if (agent >= 0) {
    unlink(path);
    exchange(agent, body);
    fail(11, "the agent at %s went away: try again", socket_path);
  }
  exit(0);
}

int main(void) {
  const char *verb = getenv("CNI_COMMAND");
  signal(SIGPIPE, SIG_IGN);
  char *conf = malloc(max_stdin + 2);
  if (conf == NULL) fail(5, "no memory");
  size_t length = read_stdin(conf);
  read_configuration(conf, length);
  if (verb != NULL && strcmp(verb, "VERSION") == 0) {
    char line[256];
    int printed = snprintf(line, sizeof line, "{\"cniVersion\":\"%s\",\"supportedVersions\":%s}\n", cni_version, versions);
    answer(0, line, (size_t)printed);
  }
  struct text body = request_body(conf, length);
  int agent = connect_agent();
  int is_absent = agent < 0 && errno != EAGAIN;
  if (agent >= 0) exchange(agent, &body);
  int code = verb != NULL && strcmp(verb, "STATUS") == 0 ? 50 : 11;
  if (verb != NULL && strcmp(verb, "DEL") == 0) queue_delete(&body, is_absent);
  if (errno == EAGAIN) fail(code, "the agent at %s was silent for %d s: it hangs", socket_path, max_silence);
  fail(code, agent < 0 ? "no agent listens on %s: %s" : "the agent at %s did not answer: %s", socket_path, strerror(errno));
}
