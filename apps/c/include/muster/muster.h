#ifndef MUSTER_MUSTER_H
#define MUSTER_MUSTER_H

/**
 * A node of Muster and its application, for programs in C and for languages that can call C.
 *
 * @code
 *   int code = muster_open(&config, &hooks, user, &node, why, sizeof why);
 *   if (code == 0) code = muster_run(node, why, sizeof why);
 *   muster_close(node);
 * @endcode
 *
 * The hooks are those of the C++ interface. docs/architecture.md ("Promises") describes them and
 * their order; docs/reference/failures.md lists the consequences of failures.
 *
 * @par Thread safety
 * Every function may be called from any thread, unless its comment says otherwise.
 * @par Errors
 * A function that returns an int returns an exit code of docs/reference/exit-codes.md: 0 means
 * success. For every other code a sentence says what happened, where, and what to do. A node that
 * cannot go on ends the process with one line and its exit code (fail-stop).
 * @par Exceptions
 * No function throws.
 */

#include <stddef.h>
#include <stdint.h>

/** Makes the compiler warn about an old name that is still accepted. */
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
/* A shared library hides everything else. */
#pragma GCC visibility push(default)

/** A node of this process. Lives from muster_open to muster_close. */
typedef struct muster_node muster_node;
/**
 * The completion of a hook. It must be completed exactly once, on any thread, by muster_done or
 * muster_fail, which also free it.
 */
typedef struct muster_end muster_end;
/** The right to work for one group. Lives until muster_return. */
typedef struct muster_permit muster_permit;

/** Bytes that Muster carries and does not interpret. `data` has no zero at its end. */
typedef struct muster_bytes {
  const void* data;
  size_t size;
} muster_bytes;

/**
 * The number of a group. It only grows; compare the counter first, then the coordinator. A
 * coordinator of 0 means no group.
 */
typedef struct muster_group {
  uint64_t counter;
  uint32_t coordinator;
} muster_group;

/** The address at which a node of the cluster listens. */
typedef struct muster_address {
  uint32_t node;       /**< its id, from 1; also its priority */
  const char* address; /**< "127.0.0.1:7101"; other machines only if `insecure` is set */
} muster_address;

/**
 * The configuration of a node. Set all of it to zero before you fill it in. A duration of 0 stands
 * for the default. muster_open copies what it needs.
 */
typedef struct muster_config {
  uint32_t node;               /**< this node's id */
  const char* cluster;         /**< the cluster's name */
  const char* directory;       /**< for safe storage and admin.sock; created if it does not exist */
  const muster_address* nodes; /**< every node of the cluster, this one included */
  size_t node_count;
  uint64_t T_ns; /**< the paper's T: the bound on a call; default 100 ms */
  uint64_t stop_deadline_ns;
  uint64_t start_deadline_ns;
  uint64_t reorganize_deadline_ns;
  uint64_t check_every_ns;
  uint64_t coordinator_timeout_ns; /**< default: check_every + T */
  const char* journal;             /**< the file of the journal; NULL: no journal */
  int initialise;       /**< not 0: the store is new or old; count on from what peers have seen */
  int leave_on_signals; /**< not 0: SIGTERM and SIGINT make the node leave */
  int insecure;         /**< not 0: allow addresses beyond loopback without encryption */
} muster_config;

/** The information for a stop hook. */
typedef struct muster_stop {
  muster_group group;   /**< the group it worked for; none when a life begins */
  const char* reason;   /**< as in the journal: "halted", "own_election", ... */
  uint32_t by;          /**< the node that caused the stop; 0: this node itself */
  uint64_t deadline_ns; /**< the time that it may take */
} muster_stop;

/** A member, as a reorganization sees it. */
typedef struct muster_member {
  uint32_t node;
  muster_bytes report; /**< its report, from its last stop */
  muster_group group;  /**< of its last assignment; none: it never had one */
} muster_member;

/** The information for a reorganize hook. */
typedef struct muster_reorganization {
  muster_group group;
  const muster_member* members; /**< in ascending order, this node included */
  size_t member_count;
  /**
   * The member with the highest group number; NULL if no member ever had an assignment. This
   * member need not have the newest state: a node that was alone has the highest number, although
   * it missed the changes of the others. Choose by a version in the reports, or by a majority
   * (docs/how-to/c.md).
   */
  const muster_member* last_assigned;
  uint64_t deadline_ns;
  const muster_member* freshest MUSTER_DEPRECATED(
      "use a version in the reports: a node that was alone comes first here, whatever it missed; "
      "the new name is last_assigned"); /**< the old name of last_assigned */
} muster_reorganization;

/** The information for a start hook. */
typedef struct muster_assignment {
  muster_group group;
  muster_bytes definition;
  muster_bytes part;       /**< the bytes for this member alone */
  const uint32_t* members; /**< in ascending order */
  size_t member_count;
  uint64_t deadline_ns;
} muster_assignment;

/** A question of the coordinator to a member of its group. */
typedef struct muster_question {
  uint32_t from;
  muster_group group;
  int working; /**< 0: the coordinator reorganizes; else both nodes have started */
  muster_bytes bytes;
  uint64_t deadline_ns;
} muster_question;

/**
 * The hooks of an application, and two callbacks for the node's messages.
 *
 * @par Thread safety
 * The hooks run one at a time, on a thread of the node. `log` and `fatal` may run on any thread.
 * @par Lifetime
 * The arguments of a hook live until the hook returns. `end` lives until it is completed, which may
 * be later. `user` is the pointer that was given to muster_open.
 *
 * A hook that is NULL does nothing and succeeds; `answer` is an exception.
 */
typedef struct muster_hooks {
  /**
   * Ends the work, then calls muster_done with the report. After that no effect of the old group
   * may appear.
   */
  void (*stop)(void* user, const muster_stop* stop, muster_end* end);
  /**
   * Called on the coordinator, after every member has stopped. Calls muster_done with the
   * definition of the task.
   */
  void (*reorganize)(void* user, const muster_reorganization* all, muster_end* end);
  /** Installs the definition, calls muster_done, and works until the next stop. */
  void (*start)(void* user, const muster_assignment* task, muster_end* end);
  /**
   * Answers a question of the coordinator (muster_ask): calls muster_done with the answer. NULL:
   * every question fails.
   */
  void (*answer)(void* user, const muster_question* question, muster_end* end);
  /**
   * Receives each line of the node's log: one sentence, with its level "error", "warning" or
   * "info". NULL: the lines go to standard error. Runs on any thread, perhaps beside a hook. It
   * must not wait, and must not call the node.
   */
  void (*log)(void* user, const char* level, const char* text);
  /**
   * Receives the failure that ends the process, with its exit code, after its line in the log. Runs
   * on any thread. The process ends when this function returns, and at the latest T/8 later.
   */
  void (*fatal)(void* user, int code, const char* what);
} muster_hooks;

/**
 * Completes a hook that succeeded. The bytes are its report, definition or answer; for a start they
 * are ignored. Frees `end`.
 */
void muster_done(muster_end* end, const void* data, size_t size);

/** Completes a hook that failed; `why` is the reason. Frees `end`. */
void muster_fail(muster_end* end, const char* why);

/** In a reorganize hook: gives bytes to this member alone, in addition to the definition. */
void muster_give_part(muster_end* end, uint32_t member, const void* data, size_t size);

/** Reports how far the hook is, such as "3/7 merged", for `muster status`. */
void muster_progress(const muster_end* end, const char* how_far);

/**
 * Not 0 if the hook should end early, by success or failure, because its result is no longer
 * needed.
 */
int muster_cancelled(const muster_end* end);

/**
 * Receives an answer, which lives until the function returns. If there is no answer, `answer` is
 * NULL and `why` is the reason.
 */
typedef void (*muster_answered)(void* with, const muster_bytes* answer, const char* why);

/**
 * Sends a question to a member, for data that is too large for a report, or to give information to
 * every member. Only a coordinator gets answers: while its `reorganize` runs, and from its `start`
 * until its next stop.
 *
 * `answered` is called once, with `with` as its first argument, on the thread of the hooks. If no
 * question is allowed now, it is called at once on the calling thread. It is not called if the
 * node's life ends first.
 */
void muster_ask(muster_node* node, uint32_t member, const void* data, size_t size,
                muster_answered answered, void* with);

/**
 * Makes the group reorganize although no node has failed, for example because the held state has
 * changed. No effect while the group reorganizes already; in that case let the hook fail instead.
 */
void muster_elect(muster_node* node, const char* why);

/** Makes the node leave in order. It comes back after that time, in a new life. */
void muster_step_down(muster_node* node, uint64_t back_after_ns);

/** A role of the application, and whether the application has it now. */
typedef struct muster_role {
  const char* name; /**< of a to z, 0 to 9 and '-', at most 32 bytes; its path by HTTP */
  int has;
} muster_role;

/**
 * Publishes the application's roles, at most 16, and a text or NULL, for `muster status` and by
 * HTTP. A stop ends all roles. A name that is not allowed ends the process with exit code 76.
 */
void muster_show(muster_node* node, const muster_role* roles, size_t role_count, const char* text);

/**
 * Reports that an invariant of the application does not hold; `what` is one sentence. The node's
 * log, status and journal contain it, and `muster verify` refuses the journal. The node goes on.
 */
void muster_broken(muster_node* node, const char* what);

/**
 * Writes a line of the application's own to the journal, such as "invoice 1-1". `muster draw` shows
 * it.
 */
void muster_note(muster_node* node, const char* what);

/**
 * Returns a permit of the present group and writes the group's number to `group`, unless that is
 * NULL. Returns NULL if the node may not work now. A stop is over only when every permit was
 * returned.
 */
muster_permit* muster_acquire(muster_node* node, muster_group* group);

/** Not 0 until the node is halted, begins an election, or pauses for too long. */
int muster_permit_valid(const muster_permit* permit);

/** Returns the permit and frees it. */
void muster_return(muster_permit* permit);

/**
 * Makes a node and opens its safe storage.
 *
 * Fails with 64 if the configuration is wrong, 65 if the storage is refused, 74 if the disk fails,
 * and 75 if another process uses the storage. `*node` is then NULL. `why` gets the sentence, cut to
 * `why_size` bytes with its zero; it may be NULL.
 */
int muster_open(const muster_config* config, const muster_hooks* hooks, void* user,
                muster_node** node, char* why, size_t why_size);

/**
 * Begins the node's life and runs it on the calling thread until the node has left. Call it once
 * for each node. Fails with 64, 74 or 75 if the node's address or admin.sock is not available.
 */
int muster_run(muster_node* node, char* why, size_t why_size);

/**
 * Makes the node leave in order: the application stops, the connections close, and muster_run
 * returns.
 */
void muster_leave(muster_node* node);

/**
 * Writes the node's status as JSON, as `muster status --json` shows it, with a zero at its end, cut
 * to `size` bytes. Returns the length of the whole text without the zero.
 */
size_t muster_status(const muster_node* node, char* json, size_t size);

/**
 * Frees a node. Call it only when muster_run has returned or was never called. NULL is allowed.
 */
void muster_close(muster_node* node);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
