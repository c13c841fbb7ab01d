// Which bytes a request target may have, over any version of HTTP and in rewrites.

import { byteTable } from '../fields/characters.ts'

/**
 * Marks the bytes of a request target. Wider than RFC 3986, since clients send raw `|`, `"` and UTF-8 and
 * origins accept them; a fragment (`#`) is never part of a target (RFC 9112 section 3.2).
 */
export const isTargetByte = byteTable(byte => byte > 0x20 && byte !== 0x7f && byte !== 0x23)
