# Copyright 2026 The ros2_rnea authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
"""What an object file says of itself, read from its bytes (ELF, 64 bits, little-endian)."""

import struct

X86_64 = 62
AARCH64 = 183

SYMBOL_TABLE = 2


def elf_machine(code):
    """Return the kind of CPU that an object file is for."""
    assert code[:6] == b'\x7fELF\x02\x01'
    return struct.unpack_from('<H', code, 18)[0]


def undefined_symbols(code):
    """Return the names that an object file expects from elsewhere."""
    start, = struct.unpack_from('<Q', code, 40)
    size, count = struct.unpack_from('<HH', code, 58)
    # name, type, flags, address, offset, size, link, information, alignment, size of an entry
    sections = [struct.unpack_from('<IIQQQQIIQQ', code, start + i * size) for i in range(count)]
    names = set()
    for _, kind, _, _, offset, length, link, *_ in sections:
        if kind == SYMBOL_TABLE:
            strings = sections[link][4]
            for at in range(offset, offset + length, 24):
                name, _, _, section = struct.unpack_from('<IBBH', code, at)
                if name and section == 0:
                    names.add(code[strings + name:code.index(b'\0', strings + name)].decode())
    return names
