// Header blocks by hand (RFC 7541), so that invalid ones can be sent too. Nothing here has a table or a limit.

/** A field as a list of bytes, or a name and a value that become a literal which no table keeps. */
export type Field = Buffer | readonly [name: string, value: string]

/** Writes a header block. */
export function block(...fields: readonly Field[]): Buffer {
  return Buffer.concat(fields.map(field => (Buffer.isBuffer(field) ? field : literal(...field))))
}

/** Section 5.1; `bits` is the size of the prefix, and `first` what is in front of it. */
export function integer(value: number, bits: number, first = 0): Buffer {
  const full = 2 ** bits - 1
  if (value < full) return Buffer.from([first | value])
  const bytes = [first | full]
  let rest = value - full
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
  bytes.push(rest)
  return Buffer.from(bytes)
}

/** Section 5.2, without Huffman's code. */
export function string(text: string): Buffer {
  return Buffer.concat([integer(text.length, 7), Buffer.from(text, 'latin1')])
}

/** Bytes that claim to be in Huffman's code, which they need not be. */
export function huffman(...bytes: readonly number[]): Buffer {
  return Buffer.concat([integer(bytes.length, 7, 0x80), Buffer.from(bytes)])
}

/** Section 6.1. */
export function indexed(index: number): Buffer {
  return integer(index, 7, 0x80)
}

/** Section 6.2.1: a literal that is added to the table, with the name of an entry or a new one. */
export function added(name: string | number, value: string | Buffer): Buffer {
  return literalWith(0x40, 6, name, value)
}

/** Section 6.2.2. */
export function literal(name: string | number, value: string | Buffer): Buffer {
  return literalWith(0, 4, name, value)
}

/** Section 6.2.3. */
export function neverIndexed(name: string | number, value: string | Buffer): Buffer {
  return literalWith(0x10, 4, name, value)
}

function literalWith(first: number, bits: number, name: string | number, value: string | Buffer): Buffer {
  return Buffer.concat([
    typeof name === 'number'
      ? integer(name, bits, first)
      : Buffer.concat([Buffer.from([first]), string(name)]),
    typeof value === 'string' ? string(value) : value,
  ])
}

/** Section 6.3. */
export function tableSize(bytes: number): Buffer {
  return integer(bytes, 5, 0x20)
}
