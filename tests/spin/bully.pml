/* The Bully of the paper, literally: an independent model for SPIN, written from the text of the
 * procedures and not from the C++ code, whose checker has to find the same verdicts.
 * Numbers of sections are those that the tests of core use (3.1: the procedures, 6: the findings).
 *
 * A node i = 1..N is two processes: its message handler, and the one procedure that runs. The
 * handler serves a request, or the node fails, whenever the procedure waits: for room, for an answer,
 * for reorganize(), or to be called at all. Between two waits nothing of a node can be seen by
 * others, so that this is any point. Recovery comes at any point too, and the handler is up before
 * Recovery(i) runs. At the start all are down, which counts as no failure.
 *
 * World         -DN=3         nodes
 *               -DCAP=1       requests on their way from one node to another; a call waits for room
 *               -DFAILURES=k  that many; unlimited if not given
 *               -DWRONG=k     that many timeouts of calls that would be answered; none if not given
 *               -DANY         timeouts at any moment, as often as they like
 *               -DNOFIFO      (M4) what is on its way from one node to another comes in any order
 * Struck out    -DM1          STOP does not end the procedure that runs (6.4)
 *               -DM2          NewCoordinator without the test of h
 *               -DM2B         Ready without the test of c
 *               -DM3          Recovery sets status Election at once, and keeps h
 *               -DF8          Recovery sets status Election at once, and h undefined
 *               -DP2          Halts in parallel (6.5)
 *               -DP2B         Halts one by one, but ascending (6.5)
 * Repairs       -DR67         status Election and h = i before an election starts over (6.7)
 *               -DR67T        or: Timeout(i) in Reorganization with c = i is an election (6.7)
 *               -DR612        (S2) AreYouNormal says Yes only to its own coordinator (6.12)
 * Asserted      Assertion 1; with -DWEDGED instead: no coordinator is left in Reorganization until
 *               somebody recovers (6.7)
 * Canonical     -DLETTER      do not reset the fields that nobody will read; only for comparison
 */
#ifndef N
#define N 3
#endif
#ifndef CAP
#define CAP 1
#endif

mtype = { DOWN, ELECTION, REORGANIZATION, NORMAL };                         /* S(i).s */
mtype = { AreYouThere, AreYouNormal, Halt, NewCoordinator, Ready, Answer }; /* on the way */

/* The state vector (2). Node 0: undefined. Up is a set of bits. d is 0 or 1, chosen anew by each
 * reorganize(): if different definitions can meet, then so can different values. */
typedef StateVector {
  mtype s = DOWN;
  byte c;
  byte h;
  bit d;
  byte Up
};
StateVector S[N + 1];

/* What is on its way from a to b, in the order sent (assumption 7): the procedure called, its
 * argument and whether the caller still waits; or an answer, its value and 0. The room beyond CAP
 * is for the one answer that b can be waiting for. */
chan ways[N * N] = [CAP + 1] of { mtype, bit, bit };
#define way(a, b) ways[((a) - 1) * N + (b) - 1]
#define ANSWER_TO_COME(a, b) way(a, b)??[Answer, _, _]
#define ANSWER_IS_NEXT(a, b) way(a, b)?[Answer, _, _]
#define REQUEST_IS_NEXT(a, b) (len(way(a, b)) > 0 && !ANSWER_IS_NEXT(a, b))
#define ROOM(a, b) (len(way(a, b)) < CAP || (len(way(a, b)) == CAP && ANSWER_TO_COME(a, b)))

/* ONTIMEOUT: by assumptions 8 and 9 only when the call of a to b can no longer be answered. */
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

/* What the handler of i says to the procedure of i. All that a procedure does from one wait to the
 * next is one step, which begins with GO. */
mtype = { UP, GO, STOP, FAIL };
chan procedure_of[N + 1] = [0] of { mtype };
#define WAIT \
  if \
  :: procedure_of[i]?GO \
  :: procedure_of[i]?STOP -> goto idle \
  :: procedure_of[i]?FAIL -> goto failed \
  fi

/* Scratch of indivisible steps, 0 after each. */
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

/* Nobody waits for j any more: an answer or a question is as good as none, for it would change
 * nothing; any other request stays on its way. */
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

/* What nobody reads again before it is overwritten (2). */
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

/* The remote procedures (3.1), immediate: j calls, [[ ... ]] and the answer are one step. */
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

down: /* What arrives is lost. */
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

/* CALL procedure(j, argument), ONTIMEOUT: `answered` is false after a timeout (1). */
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

/* P2: the Halts go to all lower nodes at once, the answers are taken as they come. */
#define HALT_BESIDE_OTHERS(j) \
  :: HAS(unasked, j) && ROOM(i, j) -> unasked = unasked & ~ONLY(j); ask(Halt, j, 0) \
  :: HAS(called, j) && ANSWER_IS_NEXT(j, i) -> hear(j); S[i].Up = S[i].Up | ONLY(j) \
  :: HAS(called, j) && TIMEOUT_COMES(i, j) -> give_up(j)

/* The local procedures (3.1), each under its name. */
active [N] proctype Procedure() {
  byte i = _pid + 1 - N;
  byte j;
  byte called; /* the nodes whose answers it waits for */
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
    /* Phase A, ascending: a higher node that lives is left to it. */
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
      goto idle /* it would ask itself, who answers */
#endif
    :: else -> goto Election
    fi;

  idle: /* No procedure runs; the OS calls one when it likes. */
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

/* Coordinator of a Reorganization that no procedure goes on with, and all who could halt it are
 * down: its Timeout asks itself, its Check needs Normal, and no question moves it. */
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

/* A step of its own only where it does not hold. */
active proctype Assertion() {
  !(ALWAYS) -> assert(ALWAYS)
}
