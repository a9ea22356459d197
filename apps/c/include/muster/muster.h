#ifndef MUSTER_MUSTER_H
#define MUSTER_MUSTER_H

/**
 * A node of Muster and its application, for programs in C and whatever calls C.
 *
 *   int code = muster_open(&config, &hooks, user, &node, why, sizeof why);
 *   if (code == 0) code = muster_run(node, why, sizeof why);
 *   muster_close(node);
 *
 * What hooks are, when they are called, and what comes of one that fails is the same as in C++
 * (docs/architecture.md, "Promises"; docs/operating.md, "When something fails"). Codes are the exit
 * codes of docs/operating.md: 0 is well, and otherwise a sentence says what, where, and what to do.
 * By fail-stop a node that cannot go on ends the process, with one line and its code. Every
 * function may be called from any thread, unless it says otherwise; none throws.
 */

#include <stddef.h>
#include <stdint.h>

/** Lets the compiler warn of an old name that is still accepted. */
#if defined(__GNUC__)
#define MUSTER_DEPRECATED(why) __attribute__((deprecated(why)))
#elif defined(__cplusplus) || (defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L)
#define MUSTER_DEPRECATED(why) [[deprecated(why)]]
#else
#define MUSTER_DEPRECATED(why)
#endif

#ifdef __cplusplus
extern "C" {
#endif
/* A shared library hides the rest. */
#pragma GCC visibility push(default)

/** A node of this process. */
typedef struct muster_node muster_node;
/** The end of a hook, which is to be completed once, from any thread: muster_done or muster_fail.
 */
typedef struct muster_end muster_end;
/** The right to work for one group, until it is returned. */
typedef struct muster_permit muster_permit;

/** Bytes that are carried and not read; `data` ends with no zero. */
typedef struct muster_bytes {
  const void* data;
  size_t size;
} muster_bytes;

/** The number of a group: it only grows, first by counter. A coordinator of 0: no group. */
typedef struct muster_group {
  uint64_t counter;
  uint32_t coordinator;
} muster_group;

/** Where a node of the cluster listens. */
typedef struct muster_address {
  uint32_t node;       /**< its id, from 1, which is its priority */
  const char* address; /**< "127.0.0.1:7101"; beyond loopback only where the config is insecure */
} muster_address;

/** What makes a node. Make it all zero before it is filled; durations of 0 are the default ones. */
typedef struct muster_config {
  uint32_t node;         /**< this node's id */
  const char* cluster;   /**< the cluster's name */
  const char* directory; /**< of its safe storage and admin.sock; made where it is not there */
  const muster_address* nodes; /**< all nodes of the cluster, this one included */
  size_t node_count;
  uint64_t T_ns; /**< the paper's T, the bound on a call; by default 100 ms */
  uint64_t stop_deadline_ns;
  uint64_t start_deadline_ns;
  uint64_t reorganize_deadline_ns;
  uint64_t check_every_ns;
  uint64_t coordinator_timeout_ns; /**< by default check_every + T */
  const char* journal;             /**< a file; NULL: no journal */
  int initialise;       /**< not 0: go on above what peers have seen, though the store is younger */
  int leave_on_signals; /**< not 0: SIGTERM and SIGINT let muster_run leave */
  int insecure; /**< not 0: addresses beyond loopback, though connections are not encrypted */
} muster_config;

/** What a stop is told. */
typedef struct muster_stop {
  muster_group group;   /**< what it worked for; none at the beginning of a life */
  const char* reason;   /**< as in the journal: "halted", "own_election", ... */
  uint32_t by;          /**< who wants it; 0: nobody but this node */
  uint64_t deadline_ns; /**< how long it may take */
} muster_stop;

/** A member, as its reorganization sees it. */
typedef struct muster_member {
  uint32_t node;
  muster_bytes report; /**< what it gave when it stopped */
  muster_group group;  /**< what it was last assigned; none: nothing ever */
} muster_member;

/** What a reorganize is told. */
typedef struct muster_reorganization {
  muster_group group;
  const muster_member* members; /**< ascending, this node included */
  size_t member_count;
  /**
   * The member with the highest group number; NULL if nobody was ever assigned anything. It does
   * not say whose state is the newest: a node that was alone has the highest number, though it
   * missed what the others did. Choose by a version in the reports, or by a majority (docs/c.md).
   */
  const muster_member* last_assigned;
  uint64_t deadline_ns;
  const muster_member* freshest MUSTER_DEPRECATED(
      "use a version in the reports: a node that was alone comes first here, whatever it missed; "
      "the new name is last_assigned"); /**< the old name */
} muster_reorganization;

/** What a start is told. */
typedef struct muster_assignment {
  muster_group group;
  muster_bytes definition;
  muster_bytes part;       /**< what was given to this member alone */
  const uint32_t* members; /**< ascending */
  size_t member_count;
  uint64_t deadline_ns;
} muster_assignment;

/** What a coordinator asks a member of its group. */
typedef struct muster_question {
  uint32_t from;
  muster_group group;
  int working; /**< 0: it reorganizes; else it has started, and so has who answers */
  muster_bytes bytes;
  uint64_t deadline_ns;
} muster_question;

/**
 * The hooks; one at a time, on a thread of the node. What they are told lives until they return,
 * `end` until it is completed, by them or later. A hook that is NULL does nothing. And what hears
 * of the node: `log` and `fatal`.
 */
typedef struct muster_hooks {
  /** Cease; then muster_done with what you hold. No effect of the old group comes after that. */
  void (*stop)(void* user, const muster_stop* stop, muster_end* end);
  /** On the coordinator, when all have stopped: muster_done with the definition of the task. */
  void (*reorganize)(void* user, const muster_reorganization* all, muster_end* end);
  /** Install the definition, muster_done, and work until the next stop. */
  void (*start)(void* user, const muster_assignment* task, muster_end* end);
  /** Answer what the coordinator asks by muster_ask: muster_done with the answer. NULL: it fails. */
  void (*answer)(void* user, const muster_question* question, muster_end* end);
  /**
   * Takes each line of the node's log, a sentence, with its level: "error", "warning" or "info".
   * NULL: they go to standard error. On any thread, beside the others; it may not wait, nor call
   * the node.
   */
  void (*log)(void* user, const char* level, const char* text);
  /**
   * Takes the fault that ends the process, with its exit code, after its line in the log. On any
   * thread; the process ends when it returns, and at any rate T/8 later.
   */
  void (*fatal)(void* user, int code, const char* what);
} muster_hooks;

/** The hook has ended well, with that report, definition or answer; of a start with nothing. */
void muster_done(muster_end* end, const void* data, size_t size);

/** The hook has failed, for this reason. */
void muster_fail(muster_end* end, const char* why);

/** Of a reorganize: besides the definition for all, what is for that member alone. */
void muster_give_part(muster_end* end, uint32_t member, const void* data, size_t size);

/** How far the hook is, such as "3/7 merged", for `muster status`. */
void muster_progress(const muster_end* end, const char* how_far);

/** Not 0 when nobody wants the hook's result any more: it is to end early, one way or the other. */
int muster_cancelled(const muster_end* end);

/** Takes an answer, which lives until it returns; NULL where there is none, and `why`. */
typedef void (*muster_answered)(void* with, const muster_bytes* answer, const char* why);

/**
 * Asks a member for what is too big for a report, or gives it what all are to know: from
 * `reorganize` until it is completed, and from `start` until the next stop; only a coordinator is
 * answered. `answered` gets `with` and is called once, on the thread of the hooks (or at once on
 * this one, where nothing may be asked now); not at all when the node's life has ended before.
 */
void muster_ask(muster_node* node, uint32_t member, const void* data, size_t size,
                muster_answered answered, void* with);

/**
 * Wants the group to reorganize, though no node has failed: what is held has changed. Nothing comes
 * of it where it is being reorganized already: then let the hook fail.
 */
void muster_elect(muster_node* node, const char* why);

/** Lets the node leave in order, and come back after that time in a new life. */
void muster_step_down(muster_node* node, uint64_t back_after_ns);

/** A role that the application has, or not. */
typedef struct muster_role {
  const char* name; /**< of a to z, 0 to 9 and '-', 32 bytes at most; a path by HTTP */
  int has;
} muster_role;

/**
 * Says what the application is from now on, for `muster status` and by HTTP: 16 roles at most, and
 * a text, or NULL. A stop takes the roles back. A name that is none ends the process (76).
 */
void muster_show(muster_node* node, const muster_role* roles, size_t role_count, const char* text);

/**
 * An invariant of the application's own does not hold: in one sentence, which. It stands in the
 * node's log, status and journal, which `muster verify` then refuses; the node goes on.
 */
void muster_broken(muster_node* node, const char* what);

/** A line of the application's own in the journal, which `muster draw` shows: "invoice 1-1". */
void muster_note(muster_node* node, const char* what);

/**
 * A permit of the present group, whose number is put into `group`; NULL where the node does not
 * work. The end of a stop waits until all are returned.
 */
muster_permit* muster_acquire(muster_node* node, muster_group* group);

/** Not 0 as long as the node was not halted, began no election, and has not paused. */
int muster_permit_valid(const muster_permit* permit);

/** Returns the permit. */
void muster_return(muster_permit* permit);

/**
 * Makes a node and opens its safe storage. Fails with 64 where the configuration is wrong, 65 where
 * the storage is refused, 74 where the disk fails, 75 where another process has it: then `*node` is
 * NULL, and the sentence is in `why`, cut to `why_size` bytes, its zero included; NULL: not wanted.
 */
int muster_open(const muster_config* config, const muster_hooks* hooks, void* user,
                muster_node** node, char* why, size_t why_size);

/**
 * Begins the node's life and runs it on this thread until it has left; once for each node. Fails
 * with 64, 74 or 75 where its address or admin.sock cannot be had.
 */
int muster_run(muster_node* node, char* why, size_t why_size);

/** Lets the node leave in order: the application stops, connections close, muster_run returns. */
void muster_leave(muster_node* node);

/**
 * The node's status as JSON, as `muster status --json` shows it, with its zero; cut to `size`
 * bytes. Gives how many bytes it has, without the zero.
 */
size_t muster_status(const muster_node* node, char* json, size_t size);

/** Frees what muster_open made, when muster_run has returned or was never called; NULL: nothing. */
void muster_close(muster_node* node);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
