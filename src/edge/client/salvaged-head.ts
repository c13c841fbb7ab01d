// Heads for bytes that are malformed or not HTTP, so that their sender gets a response in its own format.

import { field } from '../../http1/fields/fields.ts'
import { RequestHead } from '../../http1/heads/request-head.ts'

/** Finds Accept and Host if it can; the connection closes. */
export function salvage(bytes: Buffer): RequestHead {
  const head = new RequestHead()
  const text = bytes.toString('latin1', 0, lookedThrough)
  head.keepAlive = false
  head.method = /^[A-Z]+(?= )/.exec(text)?.[0] ?? ''
  head.target = /^[A-Z]+ (\/[!-~]*)/.exec(text)?.[1] ?? ''
  head.host = valueIn(text, 'host')
  const accept = valueIn(text, 'accept')
  // Also among the fields, where error rules look for it.
  if (accept !== null) head.field('Accept', accept, field.accept)
  return head
}

const lookedThrough = 8 * 1024

function valueIn(text: string, name: string): string | null {
  return new RegExp(`\\n${name}[ \\t]*:[ \\t]*([ -~]*)`, 'i').exec(text)?.[1]?.trim() ?? null
}
