"""What happens to a disk under a database or a pool, and what must be there afterwards.

A case gets a new disk, and returns a few words for the table. It raises client.Failed when a
promise was not kept, with what it found.
"""

import collections
import itertools
import os
import re
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass

from client import (
    ABORTED,
    CORRUPTION,
    IO_ERROR,
    MEMORY_LIMIT,
    OPEN_FILES_LIMIT,
    Acknowledged,
    Client,
    Died,
    Failed,
)
from machine import FILE_SYSTEMS, KIB, MIB, attempt, digest, remove_folder



@dataclass(frozen=True)
class Case:
    label: str
    function: Callable  # of the disk, and whether to be quick
    kinds: tuple


CASES = []
POOL_BYTES = 24 * MIB


def case(label, kinds=FILE_SYSTEMS):
    def register(function):
        CASES.append(Case(label, function, kinds))
        return function

    return register


def of(kind):
    return [entry for entry in CASES if kind in entry.kinds]


def opened(client, disk, mode="rw", options=""):
    client.ask(f"open {disk.place}/db {mode} {options}").expect_ok()


def reopen(disk, acknowledged, least, settle=True):
    """A new process finds `least`, its tables verify, and it writes on."""
    with Client(acknowledged) as client:
        opened(client, disk)
        found = client.contents()
        acknowledged.compare(found, least)
        client.ask("verify").expect_ok()
        if settle:
            acknowledged.settle(found)
        client.ask("load 60 4").expect_ok()
        client.expect_all()
        client.close()


# ---- Full disks.

OPERATIONS = {
    "log": "load 20000 4",
    "flush": "flush",
    "compaction": "compact",
    "MANIFEST": "make-family",
    "OPTIONS": "change-option",
    "ingestion": "ingest {memory}/ingested.sst {ingestion}",
    "checkpoint": "checkpoint {place}/checkpoint",
    "backup": "backup {place}/backups",
}


def operation(disk, command, ingestions):
    place, memory = disk.place, disk.ground.memory
    return command.format(place=place, memory=memory, ingestion=next(ingestions))


def expect_full(disk, answer, of_log_of_pool=False):
    """NoSpace; or what the kernel answers for it now and then: a write to a full btrfs that meets
    the lock of its snapshots is EAGAIN. Of the log of a pool an IOError that says so: NoSpace is a
    full pool."""
    is_unavailable = answer.text.endswith("Resource temporarily unavailable")
    is_again = disk.kind == "btrfs" and answer.code == IO_ERROR and is_unavailable
    is_of_log = of_log_of_pool and answer.code == IO_ERROR and "No space left" in answer.text
    answer.expect(answer.is_no_space or is_again or is_of_log, "NoSpace")


def full_rooms(quick):
    return [0, 256 * KIB] if quick else [0, 64 * KIB, 256 * KIB, 1 * MIB, 3 * MIB]


@case("full: each of the kinds of writes")
def full(disk, quick):
    """Each operation meets a disk with no room, or less than it takes; NoSpace, or success; reads
    go on, and after space was freed Resume goes on."""
    acknowledged = Acknowledged()
    met = collections.Counter()
    files = collections.Counter()
    ingestions = itertools.count(1)
    for number, room in enumerate(full_rooms(quick)):
        with Client(acknowledged) as client:
            opened(client, disk)
            for name, command in OPERATIONS.items():
                # Something for a flush; a compaction shall meet the full disk itself.
                client.ask("load 80 8").expect_ok()
                if name == "compaction":
                    client.ask("flush").expect_ok()
                disk.fill(room)
                answer = client.ask(operation(disk, command, ingestions))
                if not answer.ok:
                    expect_full(disk, answer)
                    met[name] += 1
                    names = re.findall(r"\.log|\.sst|\.dbtmp|MANIFEST|OPTIONS|CURRENT", answer.text)
                    files.update(set(names))
                client.expect_all()
                disk.free()
                client.ask("resume").expect_ok()
                if name == "checkpoint" and not answer.ok and (disk.place / "checkpoint").exists():
                    raise Failed("a checkpoint that failed exists")
                remove_folder(disk.place / "checkpoint")
            for name, command in OPERATIONS.items():
                if name != "log":
                    client.ask(operation(disk, command, ingestions)).expect_ok()
            expect_copies(disk, acknowledged)
            if number % 2 == 0:
                client.close()  # otherwise it is killed
        reopen(disk, acknowledged, acknowledged.any)
        remove_folder(disk.place / "checkpoint")
        remove_folder(disk.place / "backups")
    missed = [name for name in OPERATIONS if met[name] == 0 and name != "OPTIONS"]
    if missed:
        raise Failed(f"never met the full disk: {', '.join(missed)}")
    return f"{sum(met.values())} × NoSpace", f"{dict(met)}, of {dict(files)}"


def expect_copies(disk, acknowledged):
    """The checkpoint and the restored backup have everything acknowledged."""
    restored = disk.ground.memory / "restored"
    with Client(acknowledged) as client:
        client.ask(f"open {disk.place}/checkpoint ro").expect_ok()
        client.expect_all()
    with Client(acknowledged) as client:
        client.ask(f"restore {disk.place}/backups {restored}").expect_ok()
        client.ask(f"open {restored} rw").expect_ok()
        client.expect_all()
    remove_folder(restored)


@case("full: the database resumes by itself")
def full_with_manager(disk, _quick):
    acknowledged = Acknowledged()
    with Client(acknowledged) as client:
        opened(client, disk, "rw-manager")
        disk.fill(512 * KIB)
        answer = client.ask("load 20000 4")
        expect_full(disk, answer)
        client.expect_all()
        disk.free()
        # Only NoSpace ends by itself.
        client.ask("await-recovery" if answer.is_no_space else "resume").expect_ok()
        client.ask("load 100 4").expect_ok()
        client.expect_all()
    reopen(disk, acknowledged, acknowledged.any)
    return "resumed", ""


@case("full: recycled logs")
def full_with_recycled_logs(disk, quick):
    acknowledged = Acknowledged()
    options = "recycle_log_file_num=2"
    for room in full_rooms(quick)[1:]:
        with Client(acknowledged) as client:
            opened(client, disk, options=options)
            client.ask("load 400 8").expect_ok()
            disk.fill(room)
            answer = client.ask("load 20000 4")
            expect_full(disk, answer)
            client.expect_all()
            disk.free()
            client.ask("resume").expect_ok()
            client.ask("load 400 8").expect_ok()
            client.expect_all()
        reopen(disk, acknowledged, acknowledged.any)
    return "resumed", ""


@case("full: allow_mmap_writes")
def full_with_mapped_writes(disk, quick):
    """NoSpace, or the death that docs/reliability.md names."""
    acknowledged = Acknowledged()
    outcomes = collections.Counter()
    for room in full_rooms(quick)[:3]:
        with Client(acknowledged) as client:
            options = "allow_mmap_writes=true;wal_recovery_mode=kPointInTimeRecovery"
            opened(client, disk, options=options)
            client.ask("load 100 8").expect_ok()
            disk.fill(room)
            least = acknowledged.any
            try:
                answer = client.ask("load 20000 4")
                expect_full(disk, answer)
                client.expect_all()
                disk.free()
                client.ask("resume").expect_ok()
                client.expect_all()
                outcomes["NoSpace"] += 1
            except Died as died:
                if died.signal != signal.SIGBUS:
                    raise
                outcomes["SIGBUS"] += 1
                least = acknowledged.synced
        disk.free()
        reopen(disk, acknowledged, least)
    return ", ".join(f"{count} × {name}" for name, count in outcomes.items()), ""


# ---- Read-only.


@case("mounted read-only")
def read_only(disk, _quick):
    """The log has writes that are in no table. Readers open it; a writer is refused; nothing
    changes."""
    acknowledged = Acknowledged()
    with Client(acknowledged) as client:
        opened(client, disk)
        client.ask("load 500 8").expect_ok()
    before = digest(disk.place)
    disk.mount_again("noatime,ro")
    secondary = disk.ground.memory / "secondary"
    for mode in ("ro", f"secondary:{secondary}"):
        with Client(acknowledged) as client:
            opened(client, disk, mode)
            client.expect_all()
            client.ask("load 1 0").expect(True, "a refusal")
    with Client(acknowledged) as client:
        answer = client.ask(f"open {disk.place}/db rw")
        answer.expect("Read-only file system" in answer.text, "a text that says so")
    if digest(disk.place) != before:
        raise Failed("files were changed")
    remove_folder(secondary)
    code, output = disk.remount("rw")
    if code != 0:
        raise Failed(output)
    reopen(disk, acknowledged, acknowledged.any)
    return "refused by name", answer.text


@case("remounted read-only while it is open")
def remount_is_refused(disk, _quick):
    """The kernel refuses that while a file is open for writing, as the log always is."""
    acknowledged = Acknowledged()
    with Client(acknowledged) as client:
        opened(client, disk)
        client.send("load 3000 8")
        client.await_acks(1500)
        code, output = disk.remount("ro")
        if code == 0:
            raise Failed("the kernel remounted a disk under an open log")
        client.answer().expect_ok()
        client.expect_all()
        client.close()
    code, output = disk.remount("ro")
    if code != 0:
        raise Failed(output)
    with Client(acknowledged) as client:
        answer = client.ask(f"open {disk.place}/db rw")
        answer.expect("Read-only file system" in answer.text, "a text that says so")
    disk.remount("rw")
    reopen(disk, acknowledged, acknowledged.any)
    return "refused by the kernel", ""


def fails_under_load(disk, fail, repair, quick):
    """The disk fails in the middle of a load. The write that fails is an error. What was
    acknowledged with sync before is there after the repair, and of the rest a prefix. (The kernel
    may acknowledge a sync that is under way meanwhile, and lose it: see kernel_syncs.)"""
    acknowledged = Acknowledged()
    texts = set()
    for acks in (40, 700) if quick else (40, 300, 700, 1500):
        with Client(acknowledged) as client:
            opened(client, disk)
            client.send("load 100000 7")
            client.await_acks(acks)
            least = list(acknowledged.synced)
            fail()
            answer = client.answer()
            answer.expect(answer.code == IO_ERROR, "an I/O error")
            texts.add(re.sub(r".*: ", "", answer.text))
            answer = client.ask("load 1 0")
            answer.expect(answer.code == IO_ERROR, "an I/O error")
        repair()
        reopen(disk, acknowledged, least)
    return " or ".join(sorted(texts))


@case("read-only after an error", kinds=("ext4",))
def abort(disk, quick):
    return fails_under_load(disk, lambda: disk.remount("abort"), disk.mount_again, quick), ""


@case("shut down under load", kinds=("ext4", "xfs"))
def shut_down(disk, quick):
    return fails_under_load(disk, disk.shut_down, disk.mount_again, quick), ""


@case("unmounted under load (umount --lazy)")
def detached(disk, quick):
    """The path is gone and open files go on: the next new file fails. Mounted again, Resume goes
    on."""
    acknowledged = Acknowledged()
    with Client(acknowledged) as client:
        opened(client, disk)
        for acks in (40, 300) if quick else (40, 300, 700):
            client.send("load 100000 7")
            client.await_acks(acks)
            disk.detach()
            answer = client.answer()
            answer.expect(answer.code == IO_ERROR, "an I/O error")
            client.expect_all()
            if any(disk.place.iterdir()):
                raise Failed("files were made in the folder below")
            disk.attach()
            client.ask("resume").expect_ok()
            client.ask("load 200 8").expect_ok()
            client.expect_all()
        client.close()
    reopen(disk, acknowledged, acknowledged.any)
    return "resumed", answer.text


# ---- Errors of the device.


@case("write errors below the file system")
def write_errors(disk, quick):
    """The image is sparse and its own disk is full: each new block is EIO for the file system."""
    acknowledged = Acknowledged()
    resumed = 0
    for _ in range(1 if quick else 3):
        with Client(acknowledged) as client:
            opened(client, disk)
            client.ask("load 200 8").expect_ok()
            disk.ground.take_room()
            answer = client.ask("load 20000 7")
            answer.expect(answer.code == IO_ERROR, "an I/O error")
            disk.ground.give_room()
            least = acknowledged.synced
            if client.ask("resume").ok:
                # All memtables are in tables now.
                resumed += 1
                client.expect_all()
                least = acknowledged.any
        disk.mount_again()
        reopen(disk, acknowledged, least)
    return f"{resumed} × resumed", answer.text


def reads_of_failed_device(disk, command, dies):
    """The disk was mounted anew before its device fails. Reads are errors, unless the open or the
    kernel has read ahead, or the death that docs/reliability.md names; after the repair all is
    there."""
    acknowledged = Acknowledged()
    with Client(acknowledged) as client:
        client.ask(command).expect_ok()
        client.ask("load 3000 8").expect_ok()
        client.close()
    disk.mount_again()
    outcome = ""
    with Client(acknowledged) as client:
        client.ask(command).expect_ok()
        disk.ground.fail()
        try:
            answer = client.ask("contents")
            if not answer.ok:
                answer.expect(answer.code == IO_ERROR, "an I/O error")
            outcome = "all was in memory" if answer.ok else "an error"
        except Died as died:
            if not dies or died.signal != signal.SIGBUS:
                raise
            outcome = "SIGBUS"
    disk.ground.repair(disk)
    with Client(acknowledged) as client:
        client.ask(command).expect_ok()
        client.expect_all()
        client.ask("verify").expect_ok()
        client.close()
    return outcome, ""


@case("reads of a device that fails")
def failed_reads(disk, _quick):
    return reads_of_failed_device(disk, f"open {disk.place}/db rw", dies=False)


@case("reads of a device that fails: allow_mmap_reads")
def failed_mapped_reads(disk, _quick):
    return reads_of_failed_device(disk, f"open {disk.place}/db rw allow_mmap_reads=true", dies=True)


@case("power cut: the device loses what it had not synced")
def device_fails(disk, quick):
    return fails_under_load(disk, disk.ground.fail, lambda: disk.ground.repair(disk), quick), ""


@case("power cut: copies of the image under load")
def snapshots(disk, quick):
    """What was acknowledged before a copy was begun is in it."""
    acknowledged = Acknowledged()
    copies = []
    with Client(acknowledged) as client:
        opened(client, disk)
        client.send("load 100000 5")
        for number in range(3 if quick else 12):
            client.await_acks(40 + 60 * number)
            before = acknowledged.copy()
            copies.append((disk.copy(f"copy-{number}"), before))
    disk.unmount()
    disk.ground.reboot()
    for copy, before in copies:
        copy.mount()
        try:
            # What was not read from the pipe before the copy was begun may be in it, too.
            before.any = list(acknowledged.any)
            reopen(copy, before, before.synced)
        finally:
            copy.unmount()
            copy.remove()
    disk.mount()
    return f"{len(copies)} copies", ""


@case("no Ashlar: fdatasync during a shut-down", kinds=("ext4", "xfs"))
def kernel_syncs(disk, quick):
    """A file, appends and fdatasync, while the file system is shut down. A sync that is under way
    then may return 0 and be lost, so the cases that shut down count what was acknowledged
    before."""
    rounds = 4 if quick else 15
    lost = 0
    for number in range(rounds):
        path = disk.place / f"file-{number}"
        synced = []
        enough = threading.Event()
        arguments = (path, synced, 60 + 7 * number, enough)
        writer = threading.Thread(target=append_until_error, args=arguments)
        writer.start()
        enough.wait()
        before = len(synced)
        disk.shut_down()
        writer.join()
        disk.mount_again()
        there = path.stat().st_size // APPENDED
        if there < before:
            raise Failed(f"the kernel lost a sync that had returned before: {there} of {before}")
        lost += there < len(synced)
        path.unlink()
    return f"{lost} lost in {rounds}", ""


APPENDED = 1500  # bytes


def append_until_error(path, synced, count, enough):
    file = os.open(path, os.O_CREAT | os.O_WRONLY)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
        while True:
            os.write(file, b"x" * APPENDED)
            os.fdatasync(file)
            synced.append(None)
            if len(synced) == count:
                enough.set()
    except OSError:
        enough.set()
    finally:
        os.close(file)
        os.close(folder)


# ---- Descriptors and memory.


@case("few descriptors")
def few_descriptors(disk, _quick):
    """Tables stay open until there is no descriptor left: writes and reads say so. With more
    descriptors, and in a process that keeps few tables open, all is there."""
    acknowledged = Acknowledged()
    small_tables = (
        "disable_auto_compactions=true;level0_slowdown_writes_trigger=-1;"
        "level0_stop_writes_trigger=-1;write_buffer_size=65536"
    )
    with Client(acknowledged) as client:
        opened(client, disk, options=f"max_open_files=-1;{small_tables}")
        client.ask("limit-files 60").expect_ok()
        answer = client.ask("load 100000 8")
        answer.expect(answer.subcode == OPEN_FILES_LIMIT, "the limit on open files by name")
        read = client.ask("contents")
        if not read.ok:  # it needs descriptors, too
            read.expect(read.subcode == OPEN_FILES_LIMIT, "the limit on open files by name")
        client.ask("limit-files 1000").expect_ok()
        client.ask("resume").expect_ok()
        client.ask("load 100 8").expect_ok()
        client.expect_all()
    with Client(acknowledged) as client:
        client.ask("limit-files 60").expect_ok()
        opened(client, disk, options=f"max_open_files=12;{small_tables}")
        client.ask("load 20 8").expect_ok()
        client.ask("limit-files 1000").expect_ok()  # an iterator holds all tables of level 0 open
        client.expect_all()
        client.close()
    reopen(disk, acknowledged, acknowledged.any)
    return "refused by name", answer.text


@case("little memory")
def little_memory(disk, _quick):
    acknowledged = Acknowledged()
    outcomes = collections.Counter()
    for megabytes in (2, 8, 20):
        with Client(acknowledged) as client:
            opened(client, disk, options="write_buffer_size=268435456")
            client.ask("load 300 8").expect_ok()
            client.ask(f"limit-memory {megabytes}").expect_ok()
            answer = client.ask("load 40000 8")
            answer.expect((answer.code, answer.subcode) == (ABORTED, MEMORY_LIMIT), "MemoryLimit")
            outcomes["MemoryLimit"] += 1
        reopen(disk, acknowledged, acknowledged.any)
    return ", ".join(f"{count} × {name}" for name, count in outcomes.items()), answer.text


# ---- Pools.


def open_pool(client, disk, durability):
    client.ask(f"open-pool {disk.place}/pool {durability} {POOL_BYTES}").expect_ok()


def reopen_pool(disk, durability, acknowledged, least):
    with Client(acknowledged) as client:
        open_pool(client, disk, durability)
        found = client.contents()
        acknowledged.compare(found, least)
        client.ask("verify").expect_ok()
        acknowledged.settle(found)
        client.close()
    code, output = attempt(Client.tool, "pool", "check", disk.place / "pool")
    if code != 0:
        raise Failed(f"ashlar pool check: {output}")


def full_pool(disk, quick, durability):
    acknowledged = Acknowledged()
    disk.fill(0)
    with Client(acknowledged) as client:
        answer = client.ask(f"open-pool {disk.place}/pool {durability} {POOL_BYTES}")
        expect_full(disk, answer)
    disk.free()
    outcomes = collections.Counter()
    for room in full_rooms(quick):
        with Client(acknowledged) as client:
            open_pool(client, disk, durability)
            client.ask("load 100 0").expect_ok()
            disk.fill(room)
            try:
                answer = client.ask("load 1000 0")
                if not answer.ok:
                    expect_full(disk, answer, of_log_of_pool=durability == "logged")
                outcomes["Ok" if answer.ok else "NoSpace"] += 1
                client.expect_all()
            except Died as died:
                if died.signal != signal.SIGBUS:
                    raise
                outcomes["SIGBUS"] += 1
        disk.free()
        reopen_pool(disk, durability, acknowledged, acknowledged.any)
    return ", ".join(f"{count} × {name}" for name, count in outcomes.items()), ""


@case("pool, logged: full disk")
def full_logged_pool(disk, quick):
    return full_pool(disk, quick, "logged")


@case("pool, mapped: full disk")
def full_mapped_pool(disk, quick):
    return full_pool(disk, quick, "process-crash-only")


@case("pool, logged: reads of a device that fails")
def failed_reads_of_pool(disk, _quick):
    command = f"open-pool {disk.place}/pool logged {POOL_BYTES}"
    return reads_of_failed_device(disk, command, dies=True)


@case("pool, mapped: cut by another process")
def cut_pool(disk, _quick):
    """The process dies, as docs/reliability.md says, and the next open names the damage."""
    acknowledged = Acknowledged()
    with Client(acknowledged) as client:
        open_pool(client, disk, "process-crash-only")
        client.send("load 100000 0")
        client.await_acks(1000)
        os.truncate(disk.place / "pool", MIB)
        try:
            raise Failed(f"the load ended: {client.answer().text}")
        except Died as died:
            if died.signal != signal.SIGBUS:
                raise
    with Client(acknowledged) as client:
        answer = client.ask(f"open-pool {disk.place}/pool process-crash-only {POOL_BYTES}")
        answer.expect(answer.code == CORRUPTION, "Corruption")
    return "SIGBUS, then Corruption", answer.text


@case("pool, logged: mounted read-only")
def read_only_pool(disk, _quick):
    acknowledged = Acknowledged()
    for durability in ("logged", "process-crash-only"):
        with Client(acknowledged) as client:
            open_pool(client, disk, durability)
            client.ask("load 300 0").expect_ok()
        before = digest(disk.place)
        disk.mount_again("noatime,ro")
        with Client(acknowledged) as client:
            answer = client.ask(f"open-pool {disk.place}/pool {durability} {POOL_BYTES}")
            answer.expect("Read-only file system" in answer.text, "a text that says so")
        if digest(disk.place) != before:
            raise Failed("files were changed")
        disk.mount_again()
        reopen_pool(disk, durability, acknowledged, acknowledged.any)
    return "refused by name", answer.text


def failing_pool(disk, fail, repair, quick):
    """As fails_under_load. A log that was torn without a new boot of the machine is refused: with
    one it is opened."""
    acknowledged = Acknowledged()
    texts = collections.Counter()
    refused = 0
    for acks in (40, 700) if quick else (40, 300, 700, 1500):
        with Client(acknowledged) as client:
            open_pool(client, disk, "logged")
            client.send("load 100000 0")
            client.await_acks(acks)
            least = list(acknowledged.any)
            fail()
            answer = client.answer()
            answer.expect(answer.code == IO_ERROR, "an I/O error")
            texts[re.sub(r".*: ", "", answer.text)] += 1
        repair()
        with Client(acknowledged) as client:
            answer = client.ask(f"open-pool {disk.place}/pool logged {POOL_BYTES}")
        if not answer.ok and disk.ground.boots == 0:
            is_torn = "this log and the pool do not fit together" in answer.text
            answer.expect(is_torn, "a refusal of a torn log")
            refused += 1
            disk.ground.reboot()
        reopen_pool(disk, "logged", acknowledged, least)
    again = f"; {refused} × refused until the next boot" if refused else ""
    return " or ".join(sorted(texts)) + again, ""


@case("pool, logged: shut down under load", kinds=("ext4", "xfs"))
def shut_down_pool(disk, quick):
    return failing_pool(disk, disk.shut_down, disk.mount_again, quick)


@case("pool, logged: power cut: the device loses what it had not synced")
def device_of_pool_fails(disk, quick):
    return failing_pool(disk, disk.ground.fail, lambda: disk.ground.repair(disk), quick)


@case("pool, logged: power cut: copies of the image under load")
def snapshots_of_pool(disk, quick):
    acknowledged = Acknowledged()
    copies = []
    with Client(acknowledged) as client:
        open_pool(client, disk, "logged")
        client.send("load 100000 0")
        for number in range(3 if quick else 8):
            client.await_acks(40 + 60 * number)
            copies.append((disk.copy(f"copy-{number}"), acknowledged.copy()))
    disk.unmount()
    disk.ground.reboot()
    for copy, before in copies:
        copy.mount()
        try:
            least = before.any
            before.any = list(acknowledged.any)
            reopen_pool(copy, "logged", before, least)
        finally:
            copy.unmount()
            copy.remove()
    disk.mount()
    return f"{len(copies)} copies", ""
