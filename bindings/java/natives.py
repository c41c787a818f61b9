"""The native methods that the classes of a jar declare, read from the class files."""

import struct
import zipfile
from dataclasses import dataclass
from pathlib import Path

ACC_NATIVE = 0x0100
# Bytes that follow the tag of an entry of the constant pool, except UTF-8 text (1), and the number
# of places that it takes.
CONSTANT_BYTES = {
    3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4,
    15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2,
}
CONSTANT_PLACES = {5: 2, 6: 2}


@dataclass(frozen=True, order=True)
class Native:
    """A native method, as in org.rocksdb.RocksDB.get(J[BII)[B."""

    class_name: str  # with dots
    method: str
    descriptor: str
    overloaded: bool  # there is another native of this name in the class

    @property
    def text(self) -> str:
        return f"{self.class_name}.{self.method}{self.descriptor}"

    @property
    def symbol(self) -> str:
        """The name by which the Java machine looks for the function: with the parameters only if
        the method is overloaded."""
        name = f"Java_{mangled(self.class_name.replace('.', '/'))}_{mangled(self.method)}"
        if self.overloaded:
            name += "__" + mangled(self.descriptor[1 : self.descriptor.index(")")])
        return name

    @property
    def parameters(self) -> list[str]:
        """C++ types of the parameters after the first two."""
        end = self.descriptor.index(")")
        return [cxx_type(text) for text in split_types(self.descriptor[1:end])]

    @property
    def result(self) -> str:
        return cxx_type(self.descriptor[self.descriptor.index(")") + 1 :])


def mangled(text: str) -> str:
    replaced = {"/": "_", "_": "_1", ";": "_2", "[": "_3"}
    return "".join(
        replaced[c] if c in replaced else c if c.isascii() and c.isalnum() else f"_0{ord(c):04x}"
        for c in text
    )


def split_types(text: str) -> list[str]:
    types = []
    begin = 0
    while begin < len(text):
        end = begin
        while text[end] == "[":
            end += 1
        end = text.index(";", end) + 1 if text[end] == "L" else end + 1
        types.append(text[begin:end])
        begin = end
    return types


def cxx_type(text: str) -> str:
    simple = {
        "V": "void", "Z": "jboolean", "B": "jbyte", "C": "jchar", "S": "jshort",
        "I": "jint", "J": "jlong", "F": "jfloat", "D": "jdouble",
    }
    if text in simple:
        return simple[text]
    if text == "Ljava/lang/String;":
        return "jstring"
    if text[0] == "[":
        return simple[text[1]] + "Array" if text[1] in simple else "jobjectArray"
    return "jobject"


class ClassFile:
    """The part of a class file that names its methods."""

    def __init__(self, data: bytes):
        self.data = data
        self.offset = 0
        (magic,) = self.take(">I")
        if magic != 0xCAFEBABE:
            raise ValueError("not a class file")
        self.take(">HH")
        self.constants = self.read_constants()
        _, this_class, _, interfaces = self.take(">HHHH")
        self.name = self.constants[self.constants[this_class]].replace("/", ".")
        self.take(f">{interfaces}H")
        self.read_members()  # fields
        self.methods = self.read_members()

    def take(self, layout: str) -> tuple:
        values = struct.unpack_from(layout, self.data, self.offset)
        self.offset += struct.calcsize(layout)
        return values

    def read_constants(self) -> dict:
        constants = {}
        (count,) = self.take(">H")
        index = 1
        while index < count:
            (tag,) = self.take(">B")
            if tag == 1:
                (length,) = self.take(">H")
                text = self.data[self.offset : self.offset + length]
                constants[index] = text.decode("utf-8", "replace")
                self.offset += length
            else:
                size = CONSTANT_BYTES[tag]
                if tag == 7:
                    (constants[index],) = struct.unpack_from(">H", self.data, self.offset)
                self.offset += size
            index += CONSTANT_PLACES.get(tag, 1)
        return constants

    def read_members(self) -> list[tuple[int, str, str]]:
        members = []
        (count,) = self.take(">H")
        for _ in range(count):
            flags, name, descriptor, attributes = self.take(">HHHH")
            members.append((flags, self.constants[name], self.constants[descriptor]))
            for _ in range(attributes):
                _, length = self.take(">HI")
                self.offset += length
        return members


def natives_of_class(data: bytes) -> list[Native]:
    file = ClassFile(data)
    natives = [(name, descriptor) for flags, name, descriptor in file.methods if flags & ACC_NATIVE]
    names = [name for name, _ in natives]
    return [
        Native(file.name, name, descriptor, names.count(name) > 1) for name, descriptor in natives
    ]


def natives_of_jar(jar: Path) -> list[Native]:
    natives = []
    with zipfile.ZipFile(jar) as archive:
        for member in archive.namelist():
            if member.endswith(".class"):
                natives += natives_of_class(archive.read(member))
    return sorted(natives)
