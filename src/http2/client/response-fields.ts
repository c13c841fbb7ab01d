// The head of a response, or its trailers, as they come out of a header block (RFC 9113 sections 8.1 to 8.3).

import { STATUS_CODES } from '../../base/node-http.ts'
import { field } from '../../http1/fields.ts'
import { ResponseHead } from '../../http1/response-head.ts'
import { TrailerSection } from '../../http1/trailers.ts'
import type { FieldSink, HeaderField } from '../hpack/decoder.ts'

/** Reads the head of one response; `isMalformed` says whether it may stand. */
export class ResponseFields implements FieldSink {
  readonly head = new ResponseHead()
  isMalformed = false

  take({ name, value, id, isSound }: HeaderField): void {
    const { head } = this
    if (name.charCodeAt(0) === colon) {
      const isFirst = head.status === 0 && head.ids.length === 0
      if (name !== ':status' || !isFirst || !/^[1-5]\d\d$/.test(value)) this.isMalformed = true
      else this.#status(Number(value))
    } else if (!isSound || isOfConnection(id)) this.isMalformed = true
    else if (!head.field(name, value, id) && head.fault === 'unparsable') this.isMalformed = true
  }

  #status(status: number): void {
    this.head.status = status
    this.head.reason = STATUS_CODES[status] ?? ''
    // Nothing can be switched on a stream (RFC 9113 section 8.6).
    if (status === 101) this.isMalformed = true
  }
}

/** Reads what follows a body. */
export class TrailerFields implements FieldSink {
  isMalformed = false
  readonly #section = new TrailerSection(null)

  /** Those that may go on to the next hop; flat, null for none. */
  get fields(): string[] | null {
    return this.#section.fields
  }

  take({ name, value, id, isSound }: HeaderField): void {
    if (name.charCodeAt(0) === colon || !isSound || isOfConnection(id)) this.isMalformed = true
    else if (!this.#section.field(name, value, id)) this.isMalformed = true
  }
}

/** Skips a block that nobody waits for, which counts for the table all the same. */
export const nobody: FieldSink = { take() {} }

const colon = 0x3a

function isOfConnection(id: number): boolean {
  return (
    (id >= field.connection && id <= field.proxyConnection) ||
    id === field.transferEncoding ||
    id === field.upgrade
  )
}
