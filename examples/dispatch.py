#!/usr/bin/env python3
"""A small dispatcher: finds a node that has an artifact and a free slot,
sends it one job, prints the job's frames and acknowledges its exit.

    pip install nats-py
    examples/dispatch.py --trust user-owned --artifact echo@1.0.0 \
        --class function --args '{"x": 1}'

Exits 0 when the job exited with 0, else 1. Where the platform's own
`check.py` stands beside the repository (and `jsonschema` is installed),
every document that comes or goes is checked with it.
"""
import argparse
import asyncio
import importlib.util
import json
import os
import pathlib
import sys
import time

import nats
from nats.errors import NoRespondersError, NoServersError, TimeoutError

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHECK = ROOT / ".." / "shared" / "contracts" / "check.py"
FIND_S = 30  # three intervals of offers
CONNECT_S = 10
TTL_MS = 60_000
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def checker():
    """The platform's validator, or one that lets everything pass."""
    if not CHECK.exists():
        return lambda contract, document: None
    try:
        spec = importlib.util.spec_from_file_location("check", CHECK)
        check = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(check)
    except ImportError as err:
        print(f"documents are not checked: {err}", file=sys.stderr)
        return lambda contract, document: None

    def validate(contract, document):
        check.validator(contract).validate(document)

    return validate


def job_id():
    """`job_` and a ULID: 48 bits of milliseconds, 80 of chance."""
    number = int(time.time() * 1000) << 80
    number |= int.from_bytes(os.urandom(10), "big")
    digits = [CROCKFORD[(number >> (5 * n)) & 31] for n in range(25, -1, -1)]
    return "job_" + "".join(digits)


class Node:
    """One node, as a dispatcher sees it."""

    def __init__(self, nc, options, check, node):
        self.nc, self.check, self.node = nc, check, node
        self.prefix, self.me = options.prefix, options.dispatcher
        self.seq = 0

    async def ask(self, what):
        subject = f"{self.prefix}.node.{self.node}.ask.{what}.{self.me}"
        answer = await self.nc.request(subject, b"", timeout=5)
        return json.loads(answer.data)

    async def say(self, kind, **body):
        """Sends a frame as a request; the node's answer."""
        self.seq += 1
        now = int(time.time() * 1000)
        frame = {"v": 1, "seq": self.seq, "ts": now, "type": kind, **body}
        self.check("job-frame", frame)
        subject = f"{self.prefix}.node.{self.node}.in.{self.me}"
        data = json.dumps(frame).encode()
        answer = await self.nc.request(subject, data, timeout=5)
        answer = json.loads(answer.data)
        ended = answer["type"] == "job_exit"
        self.check("job-frame" if ended else "job-answer", answer)
        return answer

    async def has(self, name, version, klass):
        try:
            listed = (await self.ask("artifacts"))["artifacts"]
        except (NoRespondersError, TimeoutError):
            return False
        wanted = (name, version, klass, True)
        keys = ("name", "version", "class", "ready")
        return any(tuple(a[k] for k in keys) == wanted for a in listed)


def believed(subject, offer):
    """A reader believes the subject, not the document."""
    keys = ("trust", "kind", "region", "node_id", "offer_id")
    return subject.split(".")[-5:] == [offer.get(key) for key in keys]


def fits(offer, options):
    # A person's own machine is used only where a workload names it.
    if options.trust is None:
        trusted = offer["trust"] != "user-owned"
    else:
        trusted = offer["trust"] == options.trust
    named = options.node in (None, offer["node_id"])
    able = f"worker:{options.klass}" in offer["capabilities"]
    free = offer.get("capacity", {}).get("workers", {}).get(options.klass, 0)
    return (
        trusted
        and named
        and able
        and free > 0
        and offer["kind"] == "node"
        and offer["health"]["status"] == "up"
    )


async def send(node, job):
    """Sends the job until the answer is known. Once an answer was lost only
    the same node may be asked again, as the job may run there."""
    for attempt in range(3):
        try:
            answer = await node.say("job", job=job)
        except NoRespondersError:
            answer = None
        except TimeoutError:
            continue
        refused = answer is None or answer["type"] == "nack"
        if refused and attempt > 0:
            sys.exit(f"nobody knows whether it ran: {answer}")
        return answer
    await node.say("job_cancel", id=job["id"])
    sys.exit("cancelled: the node did not answer in time")


async def follow(frames, check, root):
    """Prints the job's frames up to its exit."""
    # Past its ttl and a minute, a job without an exit is dead for good.
    dead = time.monotonic() + TTL_MS / 1000 + 60
    while True:
        left = max(0.1, dead - time.monotonic())
        message = await frames.next_msg(timeout=left)
        if not message.subject.startswith(root):
            continue  # another speaks about our job
        frame = json.loads(message.data)
        if message.subject.endswith(".nack"):
            check("job-answer", frame)
        else:
            check("job-frame", frame)
        print(message.subject.rsplit(".", 1)[1], json.dumps(frame))
        if frame["type"] == "job_exit":
            return frame


async def attempt(node, options, check):
    """Sends one job and follows it to its end; None when the node did not
    run it, so that another may."""
    name, version = options.artifact
    job = {
        "id": job_id(),
        "class": options.klass,
        "artifact": {"name": name, "version": version},
        "args": options.args,
        "ttl_ms": TTL_MS,
        "limits": {
            "wall_ms": 30_000,
            "cpu_ms": 30_000,
            "mem_bytes": 64 << 20,
        },
    }
    story = f"{node.prefix}.job.{job['id']}"
    frames = await node.nc.subscribe(f"{story}.>")
    print(f"{job['id']} at node {node.node}", file=sys.stderr)
    answer = await send(node, job)
    if answer is None or answer["type"] == "nack":
        print(f"refused: {answer}", file=sys.stderr)
        await frames.unsubscribe()
        return None
    if answer["type"] == "ack":
        root = f"{story}.{node.me}.{node.node}."
        answer = await follow(frames, check, root)
    await node.say("job_exit_ack", id=job["id"])
    return answer


async def dispatch(nc, options, check):
    """Goes from offer to offer until one node takes the job."""
    offers = await nc.subscribe(f"{options.prefix}.offer.>")
    until = time.monotonic() + FIND_S
    while (left := until - time.monotonic()) > 0:
        try:
            message = await offers.next_msg(timeout=left)
        except TimeoutError:
            break
        offer = json.loads(message.data)
        check("resource-offer", offer)
        if not believed(message.subject, offer) or not fits(offer, options):
            continue
        node = Node(nc, options, check, offer["node_id"])
        if await node.has(*options.artifact, options.klass):
            ended = await attempt(node, options, check)
            if ended is not None:
                return ended
    hint = "" if options.trust else "; people's machines: --trust user-owned"
    sys.exit(f"no node offers what is wanted{hint}")


async def connect(server):
    """A connection, or a sentence; the library itself would try for long."""

    async def quiet(_error):
        pass

    try:
        connecting = nats.connect(server, error_cb=quiet)
        return await asyncio.wait_for(connecting, CONNECT_S)
    except (OSError, asyncio.TimeoutError, NoServersError):
        sys.exit(f"cannot reach NATS at {server}")


async def main(options):
    nc = await connect(options.server)
    try:
        ended = await dispatch(nc, options, checker())
    finally:
        await nc.close()
    print(f"{ended['reason']}: code {ended['code']}", file=sys.stderr)
    well = ended["reason"] == "exited" and ended["code"] == 0
    return 0 if well else 1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--server", default="nats://127.0.0.1:4222")
    parser.add_argument("--prefix", default="ov")
    parser.add_argument("--trust", help="without it any but user-owned")
    parser.add_argument(
        "--artifact", required=True, type=artifact, metavar="NAME@VERSION"
    )
    parser.add_argument("--class", dest="klass", default="function")
    parser.add_argument("--args", type=json.loads, default={}, metavar="JSON")
    parser.add_argument("--node", help="only this node")
    parser.add_argument("--dispatcher", default="example")
    return parser.parse_args()


def artifact(text):
    name, at, version = text.partition("@")
    if not at:
        raise ValueError(text)
    return name, version


if __name__ == "__main__":
    sys.exit(asyncio.run(main(arguments())))
