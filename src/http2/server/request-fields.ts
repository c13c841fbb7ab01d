// Makes a request head of a header block (RFC 9113 section 8.3), as if it had come over HTTP/1.

import { randomBytes } from 'node:crypto'
import { isTokenByte } from '../../http1/fields/characters.ts'
import { isTargetByte } from '../../http1/heads/target-bytes.ts'
import { equalsIgnoreCase, field } from '../../http1/fields/fields.ts'
import { type HeadLimits, RequestHead } from '../../http1/heads/request-head.ts'
import type { HeadFault } from '../../http1/heads/request-line.ts'
import { type FieldSink, type HeaderField, pseudo } from '../hpack/decoder.ts'

const maxMethod = 64

const keyName = 'sec-websocket-key'

const ordinary = pseudo.method | pseudo.scheme | pseudo.path

export class RequestFields implements FieldSink {
  head = new RequestHead()
  fault: HeadFault | null = null
  /** Breaks RFC 9113: the stream must be reset. */
  isMalformed = false
  /** RFC 8441. */
  isTunnel = false
  /** Whether it brings its own key of the WebSocket handshake, and so checks the origin's reply itself. */
  hasKey = false
  /** The pseudo-header fields so far, and whether others have followed. */
  #seen = 0
  #isBehind = false
  #authority: string | null = null
  #scheme = ''
  #protocol = ''
  /** Joined (RFC 9113 section 8.2.3). */
  #cookie: string | null = null

  begin(limits: HeadLimits): void {
    this.head = new RequestHead(limits.headers)
    this.fault = null
    this.isMalformed = this.isTunnel = this.hasKey = false
    this.#seen = 0
    this.#isBehind = false
    this.#authority = this.#cookie = null
    this.#scheme = this.#protocol = ''
  }

  take(field: HeaderField): void {
    if (!field.isSound) this.isMalformed = true
    else if (field.pseudo !== pseudo.none) this.#pseudo(field)
    else this.#field(field)
  }

  settle(size: number, limits: HeadLimits): void {
    if (size > limits.headerSection) this.fault = 'http_headers_exceed_limit'
    // A refusal depends on the host.
    if (this.fault !== null) this.head.host = this.#authority ?? this.head.host
    if (this.fault === 'http_headers_exceed_limit') return
    if (this.isMalformed || !this.#isComplete()) this.isMalformed = true
    else if (this.fault === null) this.fault = this.#settle(limits)
  }

  #pseudo({ pseudo: which, value }: HeaderField): void {
    if (this.#isBehind || (this.#seen & which) !== 0) this.isMalformed = true
    this.#seen |= which
    switch (which) {
      case pseudo.method:
        this.head.method = value
        break
      case pseudo.path:
        this.head.target = value
        break
      case pseudo.scheme:
        this.#scheme = value
        break
      case pseudo.authority:
        this.#authority = value
        break
      case pseudo.protocol:
        this.#protocol = value
        break
      default:
        this.isMalformed = true
    }
  }

  #field({ name, value, id }: HeaderField): void {
    this.#isBehind = true
    if (id > field.other && id <= field.upgrade && (id !== field.te || value !== 'trailers'))
      this.isMalformed = true
    else if (name === 'cookie') this.#cookie = this.#cookie === null ? value : `${this.#cookie}; ${value}`
    else if (this.fault === null && !this.head.field(name, value, id))
      this.fault = this.head.fault ?? 'bad_request'
  }

  #isComplete(): boolean {
    const { method } = this.head
    if ((this.#seen & pseudo.method) === 0 || !isToken(method)) return false
    if (method !== 'CONNECT')
      return (this.#seen & (ordinary | pseudo.protocol)) === ordinary && this.head.target !== ''
    this.isTunnel = (this.#seen & pseudo.protocol) !== 0
    const required = this.isTunnel
      ? ordinary | pseudo.authority | pseudo.protocol
      : pseudo.method | pseudo.authority
    return this.#seen === required
  }

  #settle(limits: HeadLimits): HeadFault | null {
    const { head } = this
    if (this.#cookie !== null && !head.field('cookie', this.#cookie, field.cookie)) return head.fault
    if (!this.#takeAuthority()) return head.fault ?? 'bad_request'
    if (head.method === 'CONNECT' && !this.isTunnel) return this.#connect()
    if (head.target.length > limits.url) return 'uri_too_long'
    if (!isScheme(this.#scheme) || !this.#hasTarget()) return 'bad_request'
    return this.isTunnel ? this.#openTunnel() : null
  }

  /** Host must agree with `:authority` (RFC 9113 section 8.3.1). */
  #takeAuthority(): boolean {
    const { head } = this
    const authority = this.#authority
    if (authority === null) return head.host !== null
    if (head.host === null) return head.field('host', authority, field.host)
    return authority.toLowerCase() === head.host.toLowerCase()
  }

  #connect(): null {
    this.head.target = this.#authority!
    return null
  }

  #hasTarget(): boolean {
    const { target, method } = this.head
    if (target === '*') return method === 'OPTIONS'
    return target.charCodeAt(0) === 0x2f && hasOnly(isTargetByte, target)
  }

  /** As the WebSocket handshake of HTTP/1 (RFC 6455 section 4.1, RFC 8441 section 5). */
  #openTunnel(): HeadFault | null {
    if (!equalsIgnoreCase(this.#protocol, 'websocket')) return 'not_implemented'
    const { head } = this
    // What follows is not a body: an origin that opens no tunnel would take it for the next request.
    if (head.contentLength !== -1) return 'bad_request'
    head.method = 'GET'
    // A proxy with an HTTP/1 WebSocket on its other side may pass on its key.
    this.hasKey = head.fields.some((name, i) => i % 2 === 0 && name === keyName)
    const isTaken =
      head.field('upgrade', 'websocket', field.upgrade) &&
      head.field('connection', 'upgrade', field.connection) &&
      (this.hasKey || head.field(keyName, randomBytes(16).toString('base64'), field.other))
    return isTaken ? null : (head.fault ?? 'bad_request')
  }
}

function isScheme(scheme: string): boolean {
  return scheme === 'https' || scheme === 'http'
}

function isToken(method: string): boolean {
  return method !== '' && method.length <= maxMethod && hasOnly(isTokenByte, method)
}

function hasOnly(table: Uint8Array, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (table[text.charCodeAt(i)] !== 1) return false
  return true
}
