// A response head (RFC 9112 sections 4 and 6.3), refused as a whole if two readers could disagree on it.

import { ownText } from '../../base/text/own-text.ts'
import { BodyReader, noBody } from '../body/body.ts'
import { cr, isFieldByte, lf, sp } from '../fields/characters.ts'
import { hasConnectionScheme } from '../fields/connection-authentication.ts'
import { connectionOptions } from '../fields/connection-options.ts'
import { crossingLines, equalsIgnoreCase, type FieldId, field, firstValue } from '../fields/fields.ts'
import { type FieldReader, parseContentLength, readFieldLines } from '../fields/field-lines.ts'

/** `unparsable`: not HTTP/1; `framing`: HTTP, but the end of its body cannot be determined. */
export type ResponseFault = 'unparsable' | 'framing'

/** Each field line costs time, and no legitimate origin sends so many. */
const maxFields = 1000

export class ResponseHead implements FieldReader {
  readonly kind = 'response'
  status = 0
  reason = ''
  readonly fields: string[] = []
  readonly ids: FieldId[] = []
  contentLength = -1
  chunked = false
  keepAlive = true
  /** Seconds; -1 if not specified. */
  keepAliveTimeout = -1
  connection: string | null = null
  /** Names that Connection lists, lower-case. */
  hopByHop: ReadonlySet<string> | null = null
  upgrade: string | null = null
  /** Whether the origin authenticates the connection rather than the request, or asks for that. */
  authenticatesConnection = false
  hasDate = false
  isEventStream = false
  contentType: string | null = null
  contentEncoding: string | null = null
  /** Whether it came over HTTP/2 with a field that no hop may index (RFC 7541 section 6.2.3). */
  neverIndexed = false
  fault: ResponseFault | null = null
  /** Cached `crossingLines`. */
  #crossing: string | null = null
  #isRepeated = false
  #hasCacheControl: boolean | null = null

  /** Whether a content coding hides the text of the body. */
  get isEncoded(): boolean {
    return this.contentEncoding !== null
  }

  /** Whether it says how it may be cached. */
  get hasCacheControl(): boolean {
    return (this.#hasCacheControl ??= firstValue(this.fields, 'cache-control') !== null)
  }

  field(name: string, value: string, id: FieldId): boolean {
    this.fields.push(name, value)
    if (this.ids.push(id) > maxFields) this.fault = 'unparsable'
    if (id !== field.other) this.#apply(value, id)
    return this.fault === null
  }

  crossing(): string {
    return (this.#crossing ??= crossingLines(this))
  }

  /** V8 would copy the pieces of a concatenation one by one for each response. */
  repeated(): this {
    if (this.#isRepeated) return this
    this.#isRepeated = true
    this.#crossing = ownText(this.crossing())
    return this
  }

  #apply(value: string, id: FieldId): void {
    switch (id) {
      case field.contentLength:
        this.#contentLength(value)
        break
      case field.transferEncoding:
        if (this.chunked || !equalsIgnoreCase(value, 'chunked')) this.fault = 'framing'
        this.chunked = true
        break
      case field.connection:
        this.connection = this.connection === null ? value : `${this.connection}, ${value}`
        break
      case field.keepAlive:
        this.keepAliveTimeout = Number(/(?:^|[ \t,])timeout=(\d{1,6})(?:$|[ \t,])/i.exec(value)?.[1] ?? -1)
        break
      case field.upgrade:
        this.upgrade = value
        break
      case field.date:
        this.hasDate = true
        break
      case field.wwwAuthenticate:
      case field.proxyAuthenticate:
        this.authenticatesConnection ||= hasConnectionScheme(value)
        break
      case field.persistentAuth:
        this.authenticatesConnection ||= !equalsIgnoreCase(value, 'false')
        break
      case field.contentEncoding:
        this.contentEncoding = this.contentEncoding === null ? value : `${this.contentEncoding}, ${value}`
        break
      case field.contentType:
        this.contentType = value
        this.isEventStream = /^text\/event-stream[ \t]*(?:;|$)/i.test(value)
        break
      default:
    }
  }

  /** Accepts a repeated length only if the values are the same (RFC 9110 section 8.6). */
  #contentLength(value: string): void {
    const length = parseContentLength(value)
    if (length === -1 || (this.contentLength !== -1 && this.contentLength !== length)) this.fault = 'framing'
    this.contentLength = length
  }
}

/** Parses the head between `start` and `end` (as returned by `endOfHead`); returns it, or its fault. */
export function parseResponseHead(bytes: Buffer, start: number, end: number): ResponseHead | ResponseFault {
  const head = new ResponseHead()
  const text = bytes.toString('latin1', start, end)
  const fieldsAt = readStatusLine(bytes, text, start, head)
  if (fieldsAt === -1) return 'unparsable'
  if (!readFieldLines(bytes, text, start, fieldsAt, end, head)) return head.fault ?? 'unparsable'
  if (head.chunked && (head.contentLength !== -1 || text.charCodeAt(7) === 0x30)) return 'framing'
  if (!settleConnection(head)) return 'unparsable'
  return head
}

/** The reader for the body that follows a final head (RFC 9112 section 6.3), or its fault. */
export function responseBody(head: ResponseHead, method: string): BodyReader | ResponseFault {
  if (method === 'HEAD' || head.status === 304) return noBody
  if (head.status === 204) return head.chunked || head.contentLength > 0 ? 'framing' : noBody
  if (head.chunked) return new BodyReader('chunked', 0, head.hopByHop)
  if (head.contentLength !== -1) return new BodyReader('length', head.contentLength)
  return new BodyReader('close', 0)
}

/** Returns the offset after the line, or -1. Many origins omit the space before an empty reason. */
function readStatusLine(bytes: Buffer, text: string, start: number, head: ResponseHead): number {
  if (text.startsWith('HTTP/1.0 ')) head.keepAlive = false
  // Later minor versions are read as 1.1 (RFC 9110 section 2.5).
  else if (!text.startsWith('HTTP/1.1 ') && !/^HTTP\/1\.[2-9] /.test(text)) return -1
  for (let i = 9; i < 12; i++) {
    const digit = text.charCodeAt(i) - 0x30
    if (!(digit >= 0 && digit <= 9)) return -1
    head.status = head.status * 10 + digit
  }
  if (head.status < 100) return -1
  let at = start + 12
  if (bytes[at] === sp) at++
  else if (bytes[at] !== cr) return -1
  const reasonStart = at
  while (isFieldByte[bytes[at]!] === 1) at++
  if (bytes[at] !== cr || bytes[at + 1] !== lf) return -1
  head.reason = text.slice(reasonStart - start, at - start)
  return at + 2
}

function settleConnection(head: ResponseHead): boolean {
  const options = connectionOptions(head.connection)
  if (options === null) return false
  const { close, keepAlive, hopByHop } = options
  head.keepAlive = !close && (keepAlive || head.keepAlive)
  head.hopByHop = hopByHop
  return true
}
