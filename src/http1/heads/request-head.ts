// A request head (RFC 9112 sections 2 and 3). What two readers could understand differently is a fault.

import { ownText } from '../../base/text/own-text.ts'
import { BodyReader, noBody } from '../body/body.ts'
import { connectionOptions } from '../fields/connection-options.ts'
import { crossingLines, equalsIgnoreCase, type FieldId, type FieldLines, field } from '../fields/fields.ts'
import { type FieldReader, parseContentLength, readFieldLines } from '../fields/field-lines.ts'
import { type HeadFault, type RequestLine, readRequestLine, settleTarget } from './request-line.ts'

type HttpVersion = '1.0' | '1.1' | '2'

export interface HeadLimits {
  readonly url: number
  /** Bytes, request line included. */
  readonly headerSection: number
  readonly headers: number
}

export class RequestHead implements FieldReader, RequestLine {
  readonly kind = 'request'
  method = ''
  /** In origin form, bytes as received (latin1). */
  target = ''
  minor = 1
  version: HttpVersion = '1.1'
  fields: string[] = []
  ids: FieldId[] = []
  /** Or the authority of an absolute target; null for none. */
  host: string | null = null
  /** -1 without Content-Length. */
  contentLength = -1
  chunked = false
  keepAlive = true
  expect: string | null = null
  /** Null if no upgrade is allowed. */
  upgrade: string | null = null
  accept: string | null = null
  xForwardedFor: string | null = null
  cdnLoop: string | null = null
  via: string | null = null
  /** Empty if repeated, which makes it invalid. */
  traceparent: string | null = null
  tracestate: string | null = null
  connection: string | null = null
  /** Names that Connection lists, lower-case. */
  hopByHop: ReadonlySet<string> | null = null
  fault: HeadFault | null = null
  #maxFields: number
  /** Cached `crossingLines`, and whether they are one flat string. */
  #crossing: string | null = null
  #isFlat = false
  #isRepeated = false

  constructor(maxFields = Number.POSITIVE_INFINITY) {
    this.#maxFields = maxFields
  }

  /** Returns false if the line makes the message unacceptable. */
  field(name: string, value: string, id: FieldId): boolean {
    this.fields.push(name, value)
    if (this.ids.push(id) > this.#maxFields) {
      this.fault = 'http_headers_exceed_limit'
      return false
    }
    return id === field.other || this.#apply(value, id)
  }

  crossing(atHome = false): string {
    if (atHome) return crossingLines(this, true, true)
    this.#crossing ??= crossingLines(this)
    return this.#crossing
  }

  /** Whether it is the head of more than one request. */
  get isRepeated(): boolean {
    return this.#isRepeated
  }

  repeated(): this {
    this.#isRepeated = true
    return this
  }

  takeLines(from: RequestHead): void {
    this.fields = from.fields
    this.ids = from.ids
    this.#takeFacts(from)
    this.#crossing = from.#flatCrossing()
    this.#isFlat = from.#isFlat
  }

  #takeFacts(from: RequestHead): void {
    this.host = from.host
    this.contentLength = from.contentLength
    this.chunked = from.chunked
    this.expect = from.expect
    this.accept = from.accept
    this.xForwardedFor = from.xForwardedFor
    this.cdnLoop = from.cdnLoop
    this.via = from.via
    this.traceparent = from.traceparent
    this.tracestate = from.tracestate
    this.connection = from.connection
  }

  /** Returns the head with other lines; what it says of the message remains. */
  withLines({ fields, ids, hopByHop }: Pick<FieldLines, 'fields' | 'ids' | 'hopByHop'>): RequestHead {
    const head = new RequestHead()
    head.method = this.method
    head.target = this.target
    head.minor = this.minor
    head.version = this.version
    head.#takeFacts(this)
    head.keepAlive = this.keepAlive
    head.upgrade = this.upgrade
    head.fields = fields as string[]
    head.ids = ids as FieldId[]
    head.hopByHop = hopByHop
    return head
  }

  /** Sets another Content-Length, in the line with this number. */
  takeLength(value: string, place: number): boolean {
    this.contentLength = parseContentLength(value)
    this.fields = this.fields.with(2 * place + 1, value)
    return this.contentLength !== -1
  }

  /** V8 would copy the pieces of a concatenation one by one for each request. */
  #flatCrossing(): string | null {
    if (this.#crossing !== null && !this.#isFlat) {
      this.#crossing = ownText(this.#crossing)
      this.#isFlat = true
    }
    return this.#crossing
  }

  #apply(value: string, id: FieldId): boolean {
    switch (id) {
      case field.host:
        if (this.host !== null) return false
        this.host = value
        return true
      case field.contentLength:
        if (this.contentLength !== -1) return false
        return (this.contentLength = parseContentLength(value)) !== -1
      case field.transferEncoding:
        return this.#transferEncoding(value)
      case field.connection:
        this.connection = join(this.connection, value)
        return true
      case field.expect:
        this.expect = join(this.expect, value)
        return true
      case field.upgrade:
        this.upgrade = join(this.upgrade, value)
        return true
      case field.accept:
        this.accept = join(this.accept, value)
        return true
      case field.xForwardedFor:
        this.xForwardedFor = join(this.xForwardedFor, value)
        return true
      case field.cdnLoop:
        this.cdnLoop = join(this.cdnLoop, value)
        return true
      case field.via:
        this.via = join(this.via, value)
        return true
      case field.traceparent:
        this.traceparent = this.traceparent === null ? value : ''
        return true
      case field.tracestate:
        this.tracestate = join(this.tracestate, value)
        return true
      default:
        return true
    }
  }

  #transferEncoding(value: string): boolean {
    if (this.chunked) return false
    if (equalsIgnoreCase(value, 'chunked')) return (this.chunked = true)
    // A coding that we can't undo must not be passed on as if it were undone (RFC 9112 section 6.1).
    this.fault = codingsUnderChunked.test(value) ? 'not_implemented' : 'bad_request'
    return false
  }
}

/** Parses the head between `start` and `end` (as returned by `endOfHead`); returns it, or its fault. */
export function parseRequestHead(
  bytes: Buffer,
  start: number,
  end: number,
  limits: HeadLimits,
): RequestHead | HeadFault {
  if (end - start > limits.headerSection) return 'http_headers_exceed_limit'
  const head = new RequestHead(limits.headers)
  const text = bytes.toString('latin1', start, end)
  const fieldsAt = readRequestLine(bytes, text, start, head)
  if (fieldsAt === -1) return head.fault ?? 'bad_request'
  if (head.target.length > limits.url) return 'uri_too_long'
  if (!readFieldLines(bytes, text, start, fieldsAt, end, head)) return head.fault ?? 'bad_request'
  return settle(head)
}

/**
 * Whether an incomplete head is already larger than allowed. One whose target alone is too long is read to
 * its end, since its fields say in which format the client wants the error.
 */
export function overLimit(bytes: Buffer, start: number, limits: HeadLimits): HeadFault | null {
  if (bytes.length - start <= limits.headerSection) return null
  return isLineOpen(bytes, start) ? 'uri_too_long' : 'http_headers_exceed_limit'
}

export function startsBadly(bytes: Buffer, start: number): HeadFault | null {
  const lineEnd = bytes.indexOf('\r\n', start)
  if (lineEnd === -1) return null
  const head = new RequestHead()
  const isGood = readRequestLine(bytes, bytes.toString('latin1', start, lineEnd + 2), start, head) !== -1
  return isGood ? null : (head.fault ?? 'bad_request')
}

export function requestBody(head: RequestHead): BodyReader {
  if (head.chunked) return new BodyReader('chunked', 0, head.hopByHop)
  return head.contentLength > 0 ? new BodyReader('length', head.contentLength) : noBody
}

/** Other codings, then `chunked` once (RFC 9112 section 6.3). */
const codingsUnderChunked = /^(?:(?!chunked[ \t]*,)[!#$%&'*+\-.^_`|~0-9A-Za-z]+[ \t]*,[ \t]*)+chunked$/i

function isLineOpen(bytes: Buffer, start: number): boolean {
  return bytes.indexOf(0x0a, start) === -1
}

export function settle(head: RequestHead): RequestHead | HeadFault {
  if (head.chunked && (head.contentLength !== -1 || head.minor === 0)) return 'bad_request'
  if (head.host === null && head.minor === 1) return 'bad_request'
  return settleConnection(head) ?? settleTarget(head) ?? head
}

/** An upgrade counts only in HTTP/1.1, and only if Connection announces it (RFC 9110 section 7.8). */
function settleConnection(head: RequestHead): HeadFault | null {
  const options = connectionOptions(head.connection)
  if (options === null) return 'http_headers_exceed_limit'
  const { close, keepAlive, upgrade, hopByHop } = options
  head.keepAlive = !close && (keepAlive || head.minor === 1)
  head.hopByHop = hopByHop
  if (!upgrade || head.minor === 0) head.upgrade = null
  return null
}

function join(before: string | null, value: string): string {
  return before === null ? value : `${before}, ${value}`
}
