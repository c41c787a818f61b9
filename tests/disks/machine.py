"""Small disks: file systems in image files, and what can happen to them.

    ground    a tmpfs, with an XFS in an image file: the "device" below the disks
    disk      ext4, XFS or btrfs in an image file on the ground, mounted through a loop device

So a disk's image can be copied at one moment (reflink), can find no room for its blocks although
the file system on it has room (write errors below the file system), and can fail as a whole: the
ground is shut down without writing what it has not synced, as at a power cut.

Every mount is in the mount namespace of ./dev disks and every loop device is detached with its
mount, so that nothing is left also if the process is killed.
"""

import fcntl
import os
import pathlib
import shutil
import struct
import subprocess

KIB = 1 << 10
MIB = 1 << 20
FILE_SYSTEMS = ("ext4", "xfs", "btrfs")
NAMES = {"ext4": "ext4", "xfs": "XFS", "btrfs": "btrfs"}
DISK_BYTES = 300 * MIB  # the least that mkfs.xfs makes
GROUND_BYTES = 1200 * MIB  # sparse
MAKE = {
    "ext4": ["mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
    "xfs": ["mkfs.xfs", "-q", "-f"],
    "btrfs": ["mkfs.btrfs", "-q", "-f"],
}
BOOT_ID = "/proc/sys/kernel/random/boot_id"
# XFS_IOC_GOINGDOWN, which ext4 has too: _IOR('X', 125, uint32). The file system writes nothing any
# more, not even its journal.
IOCTL_SHUTDOWN = 0x8004587D
SHUTDOWN_WITHOUT_LOG = 2


class Refused(Exception):
    """The machine does not permit what the cases need."""


def run(*command):
    """The output of a command that succeeds."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode != 0:
        raise Refused(f"{' '.join(map(str, command))}: {done.stdout.strip()}")
    return done.stdout.strip()


def attempt(*command):
    """The exit code and the output."""
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout.strip()


def mount_image(image, place, options):
    """Mounts an image; its loop device goes when it is unmounted."""
    place.mkdir(exist_ok=True)
    device = run("losetup", "--find", "--show", image)
    try:
        run("mount", "-o", options, device, place)
    finally:
        run("losetup", "--detach", device)
    return device


def shut_down(place):
    folder = os.open(place, os.O_RDONLY)
    try:
        fcntl.ioctl(folder, IOCTL_SHUTDOWN, struct.pack("I", SHUTDOWN_WITHOUT_LOG))
    finally:
        os.close(folder)


def reserve(path, room):
    """Makes a file of all the free space of its file system but `room` bytes."""
    run("sync", "--file-system", path.parent)  # btrfs frees what was deleted when it commits
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        size = os.fstat(file).st_size
        step = 64 * MIB
        while step >= 4 * KIB:
            try:
                os.posix_fallocate(file, size, step)
                size += step
            except OSError:
                step //= 2
        os.ftruncate(file, max(0, size - room))
        os.fsync(file)
    finally:
        os.close(file)
    run("sync", "--file-system", path.parent)


def release(path):
    path.unlink(missing_ok=True)
    run("sync", "--file-system", path.parent)


class Ground:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        run("mount", "-t", "tmpfs", "-o", "size=1500m", "ashlar-disks", folder)
        self.memory = folder / "memory"  # for what belongs to no disk
        self.memory.mkdir()
        self.image = folder / "ground.img"
        self.place = folder / "ground"
        with self.image.open("wb") as file:
            file.truncate(GROUND_BYTES)
        run("mkfs.xfs", "-q", "-f", "-m", "reflink=1", self.image)
        self.boots = 0
        self.mount()

    def mount(self):
        mount_image(self.image, self.place, "noatime")

    def unmount(self):
        run("umount", self.place)

    def reboot(self):
        """Processes that begin from now on see another boot of the machine, as after a power
        cut."""
        self.boots += 1
        name = self.memory / "boot_id"
        name.write_text(f"{self.boots:08x}-0000-4000-8000-000000000000\n")
        if self.boots == 1:
            run("mount", "--bind", name, BOOT_ID)

    def dismantle(self):
        """Unmounts everything, also after a failure in the middle of a case."""
        if self.boots > 0:
            attempt("umount", BOOT_ID)
        places = [line.split()[4] for line in open("/proc/self/mountinfo")]
        inside = [place for place in places if place.startswith(f"{self.folder}")]
        for place in reversed(inside):
            attempt("umount", "--lazy", place)
        if self.folder.is_mount():
            raise Refused(f"{self.folder} is still mounted")

    def fail(self):
        """From now on the disks get errors for all they ask; what they had not synced may be
        lost."""
        shut_down(self.place)

    def repair(self, disk):
        """Mounts all again after fail(), as the next boot of the machine does."""
        disk.unmount()
        self.unmount()
        self.mount()
        disk.mount()
        self.reboot()

    def take_room(self):
        reserve(self.place / "ballast", 0)

    def give_room(self):
        release(self.place / "ballast")

    def disk(self, kind, name="disk"):
        """A new, mounted disk in the place of an old one of that name."""
        disk = Disk(self, kind, self.place / f"{name}.img", self.folder / name)
        disk.image.unlink(missing_ok=True)
        with disk.image.open("wb") as file:
            file.truncate(DISK_BYTES)
        run(*MAKE[kind], disk.image)
        disk.mount()
        return disk


class Disk:
    def __init__(self, ground, kind, image, place):
        self.ground = ground
        self.kind = kind
        self.image = image
        self.place = place
        self.device = None

    def mount(self, options="noatime"):
        self.device = mount_image(self.image, self.place, options)

    def unmount(self):
        run("umount", self.place)

    def mount_again(self, options="noatime"):
        self.unmount()
        self.mount(options)

    def detach(self):
        """The place is empty; open files go on."""
        run("umount", "--lazy", self.place)

    def attach(self):
        """After detach(), while files are open."""
        run("mount", "-o", "noatime", self.device, self.place)

    def remount(self, options):
        return attempt("mount", "-o", f"remount,{options}", self.place)

    def fill(self, room):
        reserve(self.place / "ballast", room)

    def free(self):
        release(self.place / "ballast")

    def shut_down(self):
        shut_down(self.place)

    def copy(self, name):
        """The image as it is at this moment: one call, which writers wait for."""
        copy = Disk(self.ground, self.kind, self.image.with_name(f"{name}.img"), self.place)
        copy.image.unlink(missing_ok=True)
        run("cp", "--reflink=always", self.image, copy.image)
        return copy

    def remove(self):
        self.image.unlink()


def digest(folder):
    """Every file of a folder with its bytes."""
    paths = [path for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def remove_folder(folder):
    shutil.rmtree(folder, ignore_errors=True)
