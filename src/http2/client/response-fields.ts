// The head of a response, made of a header block (RFC 9113 sections 8.2 and 8.3).

import { STATUS_CODES } from '../../net/http/node-http.ts'
import { field } from '../../http1/fields/fields.ts'
import { ResponseHead } from '../../http1/heads/response-head.ts'
import type { FieldSink, HeaderField } from '../hpack/decoder.ts'

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
    // A stream cannot switch protocols (RFC 9113 section 8.6).
    if (status === 101) this.isMalformed = true
  }
}

const colon = 0x3a

function isOfConnection(id: number): boolean {
  return (
    (id >= field.connection && id <= field.proxyConnection) ||
    id === field.transferEncoding ||
    id === field.upgrade
  )
}
