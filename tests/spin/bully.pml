/* The Bully by the paper's text: an independent model for SPIN. It was written from the text of the
 * procedures and not from the C++ code, whose checker must find the same verdicts. The procedures
 * are those of docs/protocols/bully/procedures.md. Names in quotes are headings of
 * docs/protocols/bully/findings.md.
 *
 * A node i = 1..N is two processes: its message handler, and its one running procedure. The handler
 * serves a request, or the node fails, whenever the procedure waits: for room, for an answer, for
 * reorganize(), or to be called at all. Between two waits other nodes can see nothing of a node, so
 * these are all the points that matter. Recovery too comes at any point, and the handler is up
 * before Recovery(i) runs. At the start all nodes are down, which does not count as a failure.
 *
 * World         -DN=3         nodes
 *               -DCAP=1       requests on their way from one node to another; a call waits for room
 *               -DFAILURES=k  number of failures; unlimited if not given
 *               -DWRONG=k     number of timeouts of calls that would be answered; 0 if not given
 *               -DANY         timeouts at any moment, any number of them
 *               -DNOFIFO      (M4) letters from one node to another arrive in any order
 * Struck out    -DM1          STOP does not end the running procedure ("What STOP ends")
 *               -DM2          NewCoordinator without the test of h
 *               -DM2B         Ready without the test of c
 *               -DM3          Recovery sets status Election at once, and keeps h
 *               -DF8          Recovery sets status Election at once, and h undefined
 *               -DP2          Halts in parallel ("The order of Halts")
 *               -DP2B         Halts one by one, but ascending ("The order of Halts")
 * Repairs       -DR67         status Election and h = i before an election starts over
 *               -DR67T        or: Timeout(i) in Reorganization with c = i is an election
 *                             (both: "A coordinator stuck in reorganization")
 *               -DR612        (S2) AreYouNormal says Yes only to the node's own coordinator
 *                             ("A split does not heal by itself")
 * Asserted      Assertion 1. With -DWEDGED instead: no coordinator stays in Reorganization until a
 *               node recovers ("A coordinator stuck in reorganization")
 * Canonical     -DLETTER      keeps the fields that no step will read; only for comparison
 */
#ifndef N
#define N 3
#endif
#ifndef CAP
#define CAP 1
#endif

mtype = { DOWN, ELECTION, REORGANIZATION, NORMAL };                         /* S(i).s */
mtype = { AreYouThere, AreYouNormal, Halt, NewCoordinator, Ready, Answer }; /* letters */

/* The state vector. Node 0 means undefined. Up is a set of bits. Each reorganize() chooses 0 or 1
 * for d: if two nodes can have different definitions, they can also have different values here. */
typedef StateVector {
  mtype s = DOWN;
  byte c;
  byte h;
  bit d;
  byte Up
};
StateVector S[N + 1];

/* The letters on their way from a to b, in the order sent (assumption 7). A call has the procedure,
 * its argument, and whether the caller still waits. An answer has its value and 0. The room beyond
 * CAP is for the one answer for which b can be waiting. */
chan ways[N * N] = [CAP + 1] of { mtype, bit, bit };
#define way(a, b) ways[((a) - 1) * N + (b) - 1]
#define ANSWER_TO_COME(a, b) way(a, b)??[Answer, _, _]
#define ANSWER_IS_NEXT(a, b) way(a, b)?[Answer, _, _]
#define REQUEST_IS_NEXT(a, b) (len(way(a, b)) > 0 && !ANSWER_IS_NEXT(a, b))
#define ROOM(a, b) (len(way(a, b)) < CAP || (len(way(a, b)) == CAP && ANSWER_TO_COME(a, b)))

/* ONTIMEOUT: by assumptions 8 and 9 only when the call from a to b can no longer be answered. */
#define CALL_LIVES(a, b) (way(a, b)??[_, _, 1] || ANSWER_TO_COME(b, a))
#ifdef WRONG
byte wrong = WRONG;
#define TIMEOUT_COMES(a, b) (!CALL_LIVES(a, b) || wrong > 0)
#elif defined(ANY)
#define TIMEOUT_COMES(a, b) true
#else
#define TIMEOUT_COMES(a, b) !CALL_LIVES(a, b)
#endif

#ifdef FAILURES
byte failures = FAILURES;
#define FAILURE_COMES failures > 0 -> failures--
#else
#define FAILURE_COMES true
#endif

/* The messages from the handler of i to the procedure of i. The work of a procedure from one wait
 * to the next is one step, which begins with GO. */
mtype = { UP, GO, STOP, FAIL };
chan procedure_of[N + 1] = [0] of { mtype };
#define WAIT \
  if \
  :: procedure_of[i]?GO \
  :: procedure_of[i]?STOP -> goto idle \
  :: procedure_of[i]?FAIL -> goto failed \
  fi

/* Variables of indivisible steps; they are 0 after each step. */
mtype p;
byte x;
byte awaited;
byte k;
byte m;

#define ONLY(j) (1 << (j))
#define HAS(set, j) (((set) & ONLY(j)) != 0)

inline ask(procedure, j, argument) {
  d_step {
    way(i, j)!procedure, argument, 1;
    called = called | ONLY(j)
  }
}

inline hear(j) {
  d_step {
    way(j, i)?_, answer, _;
    called = called & ~ONLY(j)
  }
}

/* The caller does not wait for j any more. An answer or a question on its way is removed, since it
 * would change nothing. Any other request stays on its way. */
inline forget(j) {
  if
  :: ANSWER_TO_COME(j, i) -> way(j, i)??Answer, _, _
  :: way(i, j)??[AreYouThere, _, 1] -> way(i, j)??AreYouThere, _, 1
  :: way(i, j)??[AreYouNormal, _, 1] -> way(i, j)??AreYouNormal, _, 1
  :: else
  fi;
  m = len(way(i, j));
  do
  :: m > 0 -> way(i, j)?p, x, _; way(i, j)!p, x, 0; m--
  :: else -> break
  od;
  p = 0;
  x = 0;
  called = called & ~ONLY(j)
}

inline give_up(j) {
  d_step {
    printf("%d: a call of %d timed out\n", i, j);
#ifdef WRONG
    if
    :: CALL_LIVES(i, j) -> wrong--
    :: else
    fi;
#endif
#if defined(WRONG) || defined(ANY)
    forget(j);
#endif
    called = called & ~ONLY(j)
  }
}

/* The procedure of i ends, and its calls with it. */
inline end_procedure() {
  k = N;
  do
  :: HAS(called, k) -> forget(k)
  :: !HAS(called, k) && k > 0 -> k--
  :: else -> break
  od;
  j = 0;
  answered = 0;
  answer = 0
}

/* Resets the fields that are overwritten before they are read again. */
inline forget_fields() {
#ifndef LETTER
  if
  :: S[i].s == DOWN || S[i].s == ELECTION -> S[i].c = 0; S[i].d = 0
  :: else
  fi;
#ifndef M3
  if
  :: S[i].s != ELECTION -> S[i].h = 0
  :: else
  fi;
#endif
#endif
  skip
}

/* The remote procedures, immediate: the call of j, [[ ... ]] and the answer are one step. */
inline serve() {
  way(j, i)?p, x, awaited;
  printf("%d: %e of %d\n", i, p, j);
  if
  :: p == AreYouThere
  :: p == AreYouNormal ->
    x = (S[i].s == NORMAL);
#ifdef R612
    x = x && S[i].c == j
#endif
  :: p == Halt ->
    S[i].s = ELECTION;
    S[i].h = j;
#ifndef M1
    stop = 1
#endif
  :: p == NewCoordinator ->
    if
#ifdef M2
    :: S[i].s == ELECTION ->
#else
    :: S[i].h == j && S[i].s == ELECTION ->
#endif
      S[i].c = j;
      S[i].s = REORGANIZATION
    :: else
    fi
  :: p == Ready ->
    if
#ifdef M2B
    :: S[i].s == REORGANIZATION ->
#else
    :: S[i].c == j && S[i].s == REORGANIZATION ->
#endif
      S[i].d = x;
      S[i].s = NORMAL
    :: else
    fi
  fi;
  if
  :: awaited -> way(i, j)!Answer, (p == AreYouNormal && x), 0
  :: else
  fi;
  forget_fields()
}

active [N] proctype Handler() {
  byte i = _pid + 1;
  byte j;
  bit stop;

down: /* Letters that arrive are lost. */
  do
  :: d_step { REQUEST_IS_NEXT(1, i) -> way(1, i)?_, _, _ }
  :: d_step { REQUEST_IS_NEXT(2, i) -> way(2, i)?_, _, _ }
#if N > 2
  :: d_step { REQUEST_IS_NEXT(3, i) -> way(3, i)?_, _, _ }
#endif
#if N > 3
  :: d_step { REQUEST_IS_NEXT(4, i) -> way(4, i)?_, _, _ }
#endif
  :: atomic { procedure_of[i]!UP; goto up }
  od;

up:
  do
  :: atomic {
      if
      :: REQUEST_IS_NEXT(1, i) -> j = 1
      :: REQUEST_IS_NEXT(2, i) -> j = 2
#if N > 2
      :: REQUEST_IS_NEXT(3, i) -> j = 3
#endif
#if N > 3
      :: REQUEST_IS_NEXT(4, i) -> j = 4
#endif
      fi;
      d_step { serve(); p = 0; x = 0; awaited = 0; j = 0 };
      if
      :: stop -> stop = 0; procedure_of[i]!STOP
      :: else
      fi
    }
  :: procedure_of[i]!GO
  :: atomic {
      /* Fail-stop (assumption 5): the status is Down from the failure on. */
      FAILURE_COMES;
      printf("%d: fails\n", i);
      d_step { S[i].s = DOWN; forget_fields() };
      procedure_of[i]!FAIL;
      goto down
    }
  od
}

/* CALL procedure(j, argument), ONTIMEOUT. `answered` is false after a timeout. */
inline call(procedure, j, argument) {
  if
  :: ROOM(i, j) -> ask(procedure, j, argument)
  :: else
  fi;
  do
  :: WAIT;
    if
    :: !called && ROOM(i, j) -> ask(procedure, j, argument)
    :: called && ANSWER_IS_NEXT(j, i) -> hear(j); answered = 1; break
    :: called && TIMEOUT_COMES(i, j) -> give_up(j); answered = 0; break
    :: else
    fi
  od
}

/* P2: the Halts go to all lower nodes at once, and their answers arrive in any order. */
#define HALT_BESIDE_OTHERS(j) \
  :: HAS(unasked, j) && ROOM(i, j) -> unasked = unasked & ~ONLY(j); ask(Halt, j, 0) \
  :: HAS(called, j) && ANSWER_IS_NEXT(j, i) -> hear(j); S[i].Up = S[i].Up | ONLY(j) \
  :: HAS(called, j) && TIMEOUT_COMES(i, j) -> give_up(j)

/* The local procedures, each under its name. */
active [N] proctype Procedure() {
  byte i = _pid + 1 - N;
  byte j;
  byte called; /* nodes with an awaited answer */
  bit answered;
  bit answer;
  bit recovers; /* Recovery(i) is still to be called */
#ifdef P2
  byte unasked;
#endif

  atomic {
    goto failed;

  Recovery:
    recovers = 0;
#ifndef M3
    S[i].h = 0;
#endif
#if defined(M3) || defined(F8)
    S[i].s = ELECTION;
#endif
    goto Election;

  Election:
    /* Phase A, ascending: the election is left to a higher node that lives. */
    j = i + 1;
    do
    :: j <= N ->
      call(AreYouThere, j, 0);
      if
      :: answered -> goto idle
      :: else -> j++
      fi
    :: else -> break
    od;
    S[i].s = ELECTION;
    S[i].h = i;
    S[i].Up = 0;
    forget_fields();

    /* Phase H, descending, one at a time. */
#if defined(P2)
    unasked = ONLY(i) - 2;
    do
    :: !unasked && !called -> break
    :: else ->
      WAIT;
      if
      HALT_BESIDE_OTHERS(1)
      HALT_BESIDE_OTHERS(2)
#if N > 2
      HALT_BESIDE_OTHERS(3)
#endif
#if N > 3
      HALT_BESIDE_OTHERS(4)
#endif
      :: else
      fi
    od;
#else
#ifdef P2B
#define FIRST 1
#define NEXT j + 1
#else
#define FIRST i - 1
#define NEXT j - 1
#endif
    j = FIRST;
    do
    :: 1 <= j && j < i ->
      call(Halt, j, 0);
      if
      :: answered -> S[i].Up = S[i].Up | ONLY(j)
      :: else
      fi;
      j = NEXT
    :: else -> break
    od;
#endif

    /* The election point. */
    S[i].c = i;
    S[i].s = REORGANIZATION;
    forget_fields();

    /* Phase C. */
    j = 1;
    do
    :: j < i && HAS(S[i].Up, j) ->
      call(NewCoordinator, j, 0);
      if
      :: answered -> j++
      :: else -> goto start_over
      fi
    :: j < i && !HAS(S[i].Up, j) -> j++
    :: else -> break
    od;

    /* S.d := reorganize() */
    do
    :: WAIT;
      if
      :: S[i].d = 0; break
      :: S[i].d = 1; break
      fi
    od;

    /* Phase Y. */
    j = 1;
    do
    :: j < i && HAS(S[i].Up, j) ->
      call(Ready, j, S[i].d);
      if
      :: answered -> j++
      :: else -> goto start_over
      fi
    :: j < i && !HAS(S[i].Up, j) -> j++
    :: else -> break
    od;
    S[i].s = NORMAL;
    goto idle;

  start_over:
#ifdef R67
    S[i].s = ELECTION;
    S[i].h = i;
    S[i].Up = 0;
#endif
    goto Election;

  Check:
    j = 1;
    do
    :: j == i -> j++
    :: j <= N && j != i ->
      call(AreYouNormal, j, 0);
      if
      :: answered && !answer -> goto Election
      :: else -> j++
      fi
    :: else -> goto idle
    od;

  Timeout:
    if
    :: (S[i].s == NORMAL || S[i].s == REORGANIZATION) && S[i].c != i ->
      j = S[i].c;
      call(AreYouThere, j, 0);
      if
      :: answered -> goto idle
      :: else -> goto Election
      fi
#ifdef R67T
    :: S[i].s == REORGANIZATION && S[i].c == i -> goto Election
    :: S[i].s == NORMAL && S[i].c == i -> goto idle
#else
    :: (S[i].s == NORMAL || S[i].s == REORGANIZATION) && S[i].c == i ->
      goto idle /* it would ask itself, and it answers */
#endif
    :: else -> goto Election
    fi;

  idle: /* No procedure runs. The system may call one at any time. */
    skip;
    d_step { S[i].Up = 0; end_procedure() };
  rests:
    WAIT;
    if
    :: recovers -> goto Recovery
    :: S[i].s == NORMAL && S[i].c == i -> goto Check
    :: goto Timeout
    fi;

  failed:
    recovers = 0;
    d_step { S[i].Up = 0; end_procedure() };
  lies:
    procedure_of[i]?UP;
    printf("%d: is up\n", i);
    recovers = 1;
    goto idle
  }
}
#ifdef NOFIFO
active proctype Disorder() {
  byte w;
  do
  :: d_step {
      len(ways[w]) > 1 -> ways[w]?p, x, awaited; ways[w]!p, x, awaited; p = 0; x = 0; awaited = 0
    }
  :: d_step { w = (w + 1) % (N * N) }
  od
}
#endif

#define WORKS(a) (S[a].s == REORGANIZATION || S[a].s == NORMAL)
#define ASSERTION_1A(a, b) (!(WORKS(a) && WORKS(b)) || S[a].c == S[b].c)
#define ASSERTION_1B(a, b) (!(S[a].s == NORMAL && S[b].s == NORMAL) || S[a].d == S[b].d)
#define AGREE(a, b) (ASSERTION_1A(a, b) && ASSERTION_1B(a, b))

/* A coordinator in Reorganization is stuck if it runs no procedure and all nodes that could halt it
 * are down: its Timeout asks itself, its Check needs Normal, and no question changes it. */
#define LEFT(a) (S[a].s == REORGANIZATION && S[a].c == a && Procedure[a + N - 1]@rests)
#define DOWN_AND_SILENT(b, a) (Procedure[b + N - 1]@lies && len(way(b, a)) == 0)

#if defined(WEDGED) && N == 2
#define ALWAYS !LEFT(2)
#elif defined(WEDGED)
#define ALWAYS !LEFT(3) && !(LEFT(2) && DOWN_AND_SILENT(3, 2))
#elif N == 2
#define ALWAYS AGREE(1, 2)
#elif N == 3
#define ALWAYS AGREE(1, 2) && AGREE(1, 3) && AGREE(2, 3)
#else
#define ALWAYS \
  AGREE(1, 2) && AGREE(1, 3) && AGREE(1, 4) && AGREE(2, 3) && AGREE(2, 4) && AGREE(3, 4)
#endif

/* It is a step of its own only if it does not hold. */
active proctype Assertion() {
  !(ALWAYS) -> assert(ALWAYS)
}
