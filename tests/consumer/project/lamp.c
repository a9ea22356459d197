/* The lamp of the README in C: lamp_in_c NODE PORT. It shines on the lowest of three nodes. */
#include <muster/muster.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

/* The argument of all hooks, which run one at a time. */
struct lamp {
  muster_node* node;
  unsigned self;
  muster_permit* permit; /* held while it shines */
};

static void stop(void* user, const muster_stop* told, muster_end* end) {
  struct lamp* lamp = user;
  if (told->group.coordinator != 0 && lamp->permit != NULL && muster_permit_valid(lamp->permit)) {
    muster_fail(end, "its permit is valid though it is asked to stop");
    return;
  }
  if (lamp->permit != NULL) muster_return(lamp->permit);
  lamp->permit = NULL;
  muster_done(end, "dark", 4);
}

/* A reorganize that waits for the answers of all members. */
struct asking {
  muster_end* end;
  size_t left;
};

static void answered(void* with, const muster_bytes* answer, const char* why) {
  struct asking* asking = with;
  if (asking->end != NULL && (answer == NULL || answer->size != 4)) {
    muster_fail(asking->end, answer == NULL ? why : "an answer is not of four bytes");
    asking->end = NULL;
  }
  if (--asking->left > 0) return;
  if (asking->end != NULL) muster_done(asking->end, NULL, 0);
  free(asking);
}

/* Answers with the name of its bulb. No member is asked while the lamps shine. */
static void answer(void* user, const muster_question* question, muster_end* end) {
  (void)user;
  if (question->working || question->bytes.size != 5 || memcmp(question->bytes.data, "bulb?", 5))
    muster_fail(end, "that is no question for a lamp");
  else
    muster_done(end, "warm", 4);
}

static void reorganize(void* user, const muster_reorganization* all, muster_end* end) {
  struct lamp* lamp = user;
  for (size_t at = 0; at < all->member_count; ++at) {
    const muster_bytes report = all->members[at].report;
    if (report.size != 4 || memcmp(report.data, "dark", 4) != 0) {
      muster_fail(end, "a member is not dark");
      return;
    }
    muster_give_part(end, all->members[at].node, at == 0 ? "shine" : "", at == 0 ? 5 : 0);
  }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  const int renamed = all->freshest == all->last_assigned; /* the old name is still accepted */
#pragma GCC diagnostic pop
  if (!renamed) {
    muster_fail(end, "an old name has another value");
    return;
  }
  muster_progress(end, "dealt");
  struct asking* asking = malloc(sizeof *asking);
  if (asking == NULL) {
    muster_fail(end, "no memory for its questions");
    return;
  }
  *asking = (struct asking){end, all->member_count};
  uint32_t members[3];
  const size_t count = all->member_count; /* `all` may end with the last answer */
  for (size_t at = 0; at < count; ++at) members[at] = all->members[at].node;
  for (size_t at = 0; at < count; ++at)
    muster_ask(lamp->node, members[at], "bulb?", 5, answered, asking);
}

/* A hook may end on any thread. */
static int complete(void* end) {
  muster_done(end, NULL, 0);
  return 0;
}

static void start(void* user, const muster_assignment* task, muster_end* end) {
  struct lamp* lamp = user;
  muster_group group = {0, 0};
  if (task->part.size != 0) lamp->permit = muster_acquire(lamp->node, &group);
  if (lamp->permit != NULL && group.counter != task->group.counter) {
    muster_fail(end, "the permit is of another group");
    return;
  }
  const muster_role shines = {"shining", lamp->permit != NULL};
  muster_show(lamp->node, &shines, 1, "a lamp");
  muster_note(lamp->node, shines.has ? "shining" : "dark");
  if (lamp->permit != NULL && !muster_permit_valid(lamp->permit))
    muster_broken(lamp->node, "it shines without a permit");
  char status[4096];
  muster_status(lamp->node, status, sizeof status);
  if (strstr(status, lamp->permit ? "[[\"shining\",true]]" : "[[\"shining\",false]]") == NULL) {
    muster_fail(end, "its status does not say whether it shines");
    return;
  }
  printf("%s in group %" PRIu64 "\n", lamp->permit != NULL ? "shining" : "dark",
         task->group.counter);
  fflush(stdout);
  if (muster_cancelled(end)) fprintf(stderr, "nobody wants that any more\n");
  thrd_t thread;
  if (thrd_create(&thread, complete, end) == thrd_success)
    thrd_detach(thread);
  else
    muster_fail(end, "no thread");
}

/* Prints the log of the node, each line with its level. */
static void hear(void* user, const char* level, const char* text) {
  fprintf(stderr, "lamp %u heard %s: %s\n", ((struct lamp*)user)->self, level, text);
}

static void ends(void* user, int code, const char* what) {
  fprintf(stderr, "lamp %u ends with %d: %s\n", ((struct lamp*)user)->self, code, what);
}

int main(int count, char** arguments) {
  if (count != 3) return 2;
  struct lamp lamp = {NULL, (unsigned)atoi(arguments[1]), NULL};
  const int port = atoi(arguments[2]);
  char texts[3][32];
  muster_address nodes[3];
  for (int at = 0; at < 3; ++at) {
    snprintf(texts[at], sizeof texts[at], "127.0.0.1:%d", port + at + 1);
    nodes[at] = (muster_address){(uint32_t)at + 1, texts[at]};
  }
  char directory[32];
  snprintf(directory, sizeof directory, "lamp-%u", lamp.self);
  char why[256];
  const muster_hooks hooks = {stop, reorganize, start, answer, hear, ends};
  muster_config config;
  memset(&config, 0, sizeof config);
  config.node = 4; /* none of the three */
  config.cluster = "lamp";
  config.directory = directory;
  config.nodes = nodes;
  config.node_count = 3;
  config.leave_on_signals = 1;
  if (muster_open(&config, &hooks, &lamp, &lamp.node, why, sizeof why) != 64 || lamp.node) return 1;
  config.node = lamp.self;
  int code = muster_open(&config, &hooks, &lamp, &lamp.node, why, sizeof why);
  char status[1024];
  if (code == 0 && muster_status(lamp.node, status, sizeof status) != strlen(status)) return 1;
  if (code == 0) code = muster_run(lamp.node, why, sizeof why);
  if (code != 0) fprintf(stderr, "lamp: %s (exit code %d)\n", why, code);
  muster_close(lamp.node);
  return code;
}
