// Which bytes a request target may have, over any version of HTTP and in rewrites.

import { byteTable } from '../fields/characters.ts'

/** Wider than RFC 3986: clients send raw `|`, `"` and UTF-8. Never a fragment (RFC 9112 section 3.2). */
export const isTargetByte = byteTable(byte => byte > 0x20 && byte !== 0x7f && byte !== 0x23)
