// The head of a request as a header block (RFC 9113 section 8.3.1).

import type { HpackEncoder } from '../hpack/encoder.ts'

export interface RequestFields {
  readonly method: string
  readonly scheme: 'http' | 'https'
  readonly authority: string
  readonly target: string
  readonly lines: string
}

const methods: Readonly<Record<string, number>> = { GET: 0x82, POST: 0x83 }
const schemes = { http: 0x86, https: 0x87 } as const
/** A path may contain a key: no later hop may add it to a table (RFC 7541 section 7.1.3). */
const names = { authority: 1, method: 2, path: 0x14 } as const

/** Writes the head of a request (RFC 9113 section 8.3.1) at `at`; returns the offset after it. */
export function writeRequestFields(
  encoder: HpackEncoder,
  { method, scheme, authority, target, lines }: RequestFields,
  into: Buffer,
  at: number,
): number {
  const byte = methods[method]
  if (byte === undefined) at = literal(names.method, method, into, at)
  else into[at++] = byte
  into[at++] = schemes[scheme]
  at = literal(names.authority, authority, into, at)
  if (target === '/') into[at++] = 0x84
  else at = literal(names.path, target, into, at)
  // Fields that a client has never indexed must not be indexed on any hop, and which they were is not kept.
  return encoder.lines(lines, into, at, true)
}

/** The name is in the static table; neither side adds the field to its own. */
function literal(name: number, value: string, into: Buffer, at: number): number {
  into[at++] = name
  at = length(value.length, into, at)
  return at + into.write(value, at, 'latin1')
}

function length(value: number, into: Buffer, at: number): number {
  if (value < 0x7f) {
    into[at] = value
    return at + 1
  }
  into[at++] = 0x7f
  let rest = value - 0x7f
  while (rest >= 0x80) {
    into[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  into[at] = rest
  return at + 1
}
