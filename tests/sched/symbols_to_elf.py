"""symbols_to_elf.py SYMBOLS.tsv OUT.elf: a riscv64 ELF whose functions are those that the table names.

The table has a line `return address, function, offset of address - 1 in it` for each address; the ELF has a function symbol for
each, which reaches from its start to behind the last of its addresses.
"""

import struct
import sys

EM_RISCV, SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHF_ALLOC_EXEC = 243, 1, 2, 3, 6
FUNCTION, TEXT_SECTION, PAGE = 0x12, 1, 4096


def read_functions(path):
    """{start: (name, end)}"""
    functions = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            address, name, offset = line.rstrip("\n").split("\t")
            if offset.startswith("-"):
                continue  # outside the kernel: what the table says of it is no function that holds it
            start = int(address, 16) - 1 - int(offset, 0)
            functions[start] = (name, max(int(address, 16), functions.get(start, ("", 0))[1]))
    return functions


def make_elf(functions):
    first = min(functions) // PAGE * PAGE
    last = max(end for _, end in functions.values())
    strings, symbols = b"\0", bytes(24)
    for start, (name, end) in sorted(functions.items()):
        symbols += struct.pack("<IBBHQQ", len(strings), FUNCTION, 0, TEXT_SECTION, start, end - start)
        strings += name.encode() + b"\0"
    section_names = b"\0.text\0.symtab\0.strtab\0"
    text_at = PAGE
    symbols_at = text_at + last - first
    strings_at = symbols_at + len(symbols)
    names_at = strings_at + len(strings)
    sections_at = (names_at + len(section_names) + 7) // 8 * 8

    def section(name, kind, flags, address, offset, size, link=0, info=0, entry=0):
        return struct.pack("<IIQQQQIIQQ", name, kind, flags, address, offset, size, link, info, 8, entry)

    header = b"\x7fELF\2\1\1" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 2, EM_RISCV, 1, first, 64, sections_at, 0, 64, 56, 1, 64, 5, 4)
    program = struct.pack("<IIQQQQQQ", 1, 5, text_at, first, first, last - first, last - first, PAGE)
    table = (bytes(64) + section(1, SHT_PROGBITS, SHF_ALLOC_EXEC, first, text_at, last - first) +
             section(7, SHT_SYMTAB, 0, 0, symbols_at, len(symbols), 3, 1, 24) + section(15, SHT_STRTAB, 0, 0, strings_at, len(strings)) +
             section(15, SHT_STRTAB, 0, 0, names_at, len(section_names)))
    return [(0, header + program), (symbols_at, symbols + strings + section_names), (sections_at, table)]


def main():
    parts = make_elf(read_functions(sys.argv[1]))
    with open(sys.argv[2], "wb") as file:
        for offset, content in parts:
            file.seek(offset)
            file.write(content)


main()
