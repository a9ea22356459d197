"""A program in Python as the application of a Muster node: docs/socket.md, as an object with hooks.

    import muster

    class Lamp:
        def __init__(self, node):
            self.node = node

        def stop(self, told): ...          # cease; what it returns is the report
        def reorganize(self, told): ...    # on the coordinator: a definition, or that and parts
        def start(self, told): ...         # install told["definition"], and work
        def answer(self, told): ...        # what the coordinator asked; may be left out

    muster.run(Lamp)

Hooks are plain functions, called one at a time on a thread of their own, or coroutines. `told` is
the node's message, with the keys of docs/socket.md; reports, definitions, parts, questions and
answers are `str` where they are text, else `bytes`, in both directions. What one raises fails it.
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
LONGEST = 64 * 1024 * 1024  # bytes of a line of the node's: all members' reports


class NodeGone(Exception):
    """The connection has ended. Nobody can ask the program to stop any more: it has to cease."""


class Refused(Exception):
    """The node does not take this program, for that reason."""


class AskFailed(Exception):
    """A member gave no answer, for that reason."""


class Told(dict):
    """What a hook is told. `cancelled` is set when nobody wants its result any more: it is still to
    end, within stop_deadline. A hook that is a coroutine is cancelled besides."""

    def __init__(self, message):
        super().__init__(message)
        self.cancelled = threading.Event()
        self._coroutine = None  # the task of the hook, where it is one and has begun

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
        self.id = None  # its own
        self.nodes = []  # of the cluster
        self._reader, self._writer, self._loop = reader, writer, loop
        self._thread = threading.get_ident()
        self._hooks = {}  # by ticket: what it was told
        self._tasks = set()
        self._questions = {}  # by number: the future of the answer
        self._asked = 0
        self._worker = concurrent.futures.ThreadPoolExecutor(1, "hooks")

    def ask(self, member, question):
        """Asks a member, from `reorganize` on until this node is to stop; on the coordinator alone.
        To be awaited in a coroutine, blocks anywhere else. Raises AskFailed."""
        return self._anywhere(self._ask(member, question))

    def progress(self, told, text):
        """How far that hook is, for `muster status`."""
        self._soon(lambda: self._say(progress=told["ticket"], text=text))

    def elect(self, why):
        """Wants the group to reorganize, though no node has failed: what is held has changed."""
        self._soon(lambda: self._say(elect=why))

    def step_down(self, seconds):
        """Lets the node leave in order, and come back after that time."""
        self._soon(lambda: self._say(step_down_ns=int(seconds * 1e9)))

    def show(self, text="", **roles):
        """What this program is from now on, for those who watch: show("open", primary=True). A
        `stop` takes the roles back, not the text."""
        self._soon(lambda: self._say(show=roles, text=text))

    def broken(self, what):
        """An invariant of this program's own does not hold: in one sentence, which."""
        self._soon(lambda: self._say(broken=what))

    def note(self, what):
        """A line of its own in the node's journal, which `muster draw` shows."""
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
            raise NodeGone("the node is gone: nobody could tell this program to stop")
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
        except Exception as error:  # of the application: its node is told, and the log has it
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
    """Registers with the node at that socket, by default MUSTER_SOCKET, makes the application with
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
    """The same for a program that is nothing else: ends the process, at once and whatever its
    threads do, when the node is gone or does not take it."""

    async def to_the_end():
        try:
            await serve(make, path)
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        sys.stdout.flush()
        os._exit(1)

    asyncio.run(to_the_end())


def _new_name(key):
    """The key of version 2 of the messages."""
    if key != "freshest":
        return key
    warnings.warn("use a version in the reports: a node that was alone comes first here, whatever "
                  "it missed; the new name is last_assigned", DeprecationWarning, stacklevel=3)
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
    """Bytes in the place of {"base64": ...}, tuples in that of group numbers."""
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
