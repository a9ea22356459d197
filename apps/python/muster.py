"""Makes a Python program the application of a Muster node: an object with hooks.

    import muster

    class Lamp:
        def __init__(self, node):
            self.node = node

        def stop(self, told): ...          # stop working; returns the report
        def reorganize(self, told): ...    # on the coordinator: returns a definition, or a tuple
                                           # of a definition and a dict of parts by node
        def start(self, told): ...         # install told["definition"], and work
        def answer(self, told): ...        # answers the coordinator's question; optional

    muster.run(Lamp)

Hooks are plain functions, which are called one at a time on a thread of their own, or coroutines.
`told` is the node's message, with the keys of docs/reference/socket.md. Reports, definitions,
parts, questions and answers are `str` if they are text, else `bytes`, in both directions. A hook
that raises has failed.
"""

import asyncio
import base64
import concurrent.futures
import inspect
import json
import os
import sys
import threading
import warnings

__all__ = ["AskFailed", "Node", "NodeGone", "Refused", "Told", "run", "serve"]
__version__ = "0.1.0"

VERSION = 2  # of the messages
LONGEST = 64 * 1024 * 1024  # bytes of a line, which may hold all reports


class NodeGone(Exception):
    """The connection has ended. Nobody can ask the program to stop any more: it has to stop now."""


class Refused(Exception):
    """The node refuses this program; the text says why."""


class AskFailed(Exception):
    """A member gave no answer; the text says why."""


class Told(dict):
    """The message that a hook is called with. `cancelled` is set when the result of the hook is no
    longer needed. The hook still has to end, within stop_deadline. If it is a coroutine, it is
    cancelled too."""

    def __init__(self, message):
        super().__init__(message)
        self.cancelled = threading.Event()
        self._coroutine = None  # the task of a hook that is a coroutine and has begun

    def __getitem__(self, key):
        return super().__getitem__(_new_name(key))

    def __contains__(self, key):
        return super().__contains__(_new_name(key))

    def get(self, key, default=None):
        return super().get(_new_name(key), default)

    def _cancel(self):
        self.cancelled.set()
        if self._coroutine:
            self._coroutine.cancel()


class Node:
    """The node whose application this program is."""

    def __init__(self, reader, writer, loop):
        self.id = None  # of this node
        self.nodes = []  # of the cluster
        self._reader, self._writer, self._loop = reader, writer, loop
        self._thread = threading.get_ident()
        self._hooks = {}  # by ticket: the message that the hook was called with
        self._tasks = set()
        self._questions = {}  # by number: the future of the answer
        self._asked = 0
        self._worker = concurrent.futures.ThreadPoolExecutor(1, "hooks")

    def ask(self, member, question):
        """Asks a member. Only the coordinator may ask, from `reorganize` on until it is to stop.
        On the loop this returns an awaitable; on any other thread it blocks. Raises AskFailed."""
        return self._anywhere(self._ask(member, question))

    def progress(self, told, text):
        """Tells how far that hook is, for `muster status`."""
        self._soon(lambda: self._say(progress=told["ticket"], text=text))

    def elect(self, why):
        """Asks the group to reorganize, although no node has failed: what is held has changed."""
        self._soon(lambda: self._say(elect=why))

    def step_down(self, seconds):
        """Lets the node leave its group in order, and come back after that time."""
        self._soon(lambda: self._say(step_down_ns=int(seconds * 1e9)))

    def show(self, text="", **roles):
        """Sets the state of this program that `muster status` and other observers show, such as
        show("open", primary=True). A `stop` clears the roles, but not the text."""
        self._soon(lambda: self._say(show=roles, text=text))

    def broken(self, what):
        """Reports that an invariant of this program does not hold: one sentence that says which."""
        self._soon(lambda: self._say(broken=what))

    def note(self, what):
        """Writes a line into the node's journal, which `muster draw` shows."""
        self._soon(lambda: self._say(note=what))

    # --- On the loop

    async def _register(self):
        self._say(register=VERSION)
        answer = await self._hear()
        self.id, self.nodes = answer["node"], answer["nodes"]

    async def _hear(self):
        try:
            line = await self._reader.readline()
        except (ConnectionError, ValueError) as error:
            raise NodeGone(f"the connection to the node is broken: {error}") from error
        if not line.endswith(b"\n"):
            raise NodeGone("the node is gone, so nothing can tell this program to stop any more")
        message = json.loads(line)
        if "refused" in message:
            raise Refused(message["refused"])
        return _decoded(message)

    def _say(self, **message):
        self._writer.write(json.dumps(message).encode() + b"\n")

    async def _serve(self, application):
        while True:
            message = await self._hear()
            if "hook" in message:
                told = Told(message)
                self._hooks[told["ticket"]] = told
                task = self._loop.create_task(self._run(application, told))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            elif "cancel" in message:
                if told := self._hooks.get(message["cancel"]):
                    told._cancel()
            elif "answered" in message:
                future = self._questions.pop(message["answered"], None)
                if future is None or future.done():
                    continue
                if "failed" in message:
                    future.set_exception(AskFailed(message["failed"]))
                else:
                    future.set_result(message["answer"])

    async def _run(self, application, told):
        ticket = told["ticket"]
        try:
            hook = getattr(application, told["hook"], None)
            if hook is None:
                raise NotImplementedError(f"the program has no hook {told['hook']}")
            if inspect.iscoroutinefunction(hook):
                told._coroutine = self._loop.create_task(hook(told))
                if told.cancelled.is_set():  # before it has begun
                    told._coroutine.cancel()
                gave = await told._coroutine
            else:
                gave = await self._loop.run_in_executor(self._worker, hook, told)
            self._say(done=ticket, **_result(told["hook"], gave))
        except asyncio.CancelledError:
            self._say(failed=ticket, why="cancelled")
        except Exception as error:  # an error of the application: the node writes it to its log
            self._say(failed=ticket, why=f"{type(error).__name__}: {error}"[:1000])
        finally:
            self._hooks.pop(ticket, None)

    async def _ask(self, member, question):
        self._asked += 1
        number = self._asked
        self._questions[number] = self._loop.create_future()
        self._say(ask=number, member=member, question=_encoded(question))
        return await self._questions[number]

    # --- From any thread

    def _anywhere(self, coroutine):
        if threading.get_ident() == self._thread:
            return coroutine
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def _soon(self, action):
        self._loop.call_soon_threadsafe(action)


async def serve(make, path=None):
    """Registers with the node at that socket (default: MUSTER_SOCKET), makes the application with
    `make(node)`, and calls its hooks. Never returns: raises Refused or NodeGone."""
    path = path or os.environ["MUSTER_SOCKET"]
    reader, writer = await asyncio.open_unix_connection(path, limit=LONGEST)
    node = Node(reader, writer, asyncio.get_running_loop())
    try:
        await node._register()
        await node._serve(make(node))
    finally:
        for told in list(node._hooks.values()):
            told._cancel()
        node._worker.shutdown(wait=False, cancel_futures=True)
        writer.close()


def run(make, path=None):
    """Like `serve`, for a program that does nothing else. Ends the process when the node is gone or
    refuses it, at once, even if other threads still run."""

    async def to_the_end():
        try:
            await serve(make, path)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        sys.stdout.flush()
        os._exit(1)

    asyncio.run(to_the_end())


def _new_name(key):
    """The key's name in version 2 of the messages."""
    if key != "freshest":
        return key
    warnings.warn("freshest is now last_assigned: a node that was alone comes first in it, "
                  "whatever it missed, so put a version into the reports",
                  DeprecationWarning, stacklevel=3)
    return "last_assigned"


def _result(hook, gave):
    if hook == "start" or gave is None:
        return {}
    if hook != "reorganize":
        return {"report" if hook == "stop" else "answer": _encoded(gave)}
    definition, parts = gave if isinstance(gave, tuple) else (gave, None)
    result = {} if definition is None else {"definition": _encoded(definition)}
    if parts:
        result["parts"] = {str(node): _encoded(part) for node, part in parts.items()}
    return result


def _encoded(value):
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray, memoryview)):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(f"expected str or bytes, not {type(value).__name__}")


def _decoded(value):
    """Puts bytes in the place of {"base64": ...}, and tuples in the place of group numbers."""
    if isinstance(value, list):
        return [_decoded(one) for one in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"base64"}:
        return base64.b64decode(value["base64"])
    decoded = {key: _decoded(one) for key, one in value.items()}
    if decoded.get("group"):
        decoded["group"] = tuple(decoded["group"])
    return decoded
