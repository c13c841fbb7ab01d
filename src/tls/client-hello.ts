// Reads the first message of a TLS client (RFC 8446 section 4.1.2), so that its certificate, rules and ticket
// key are known before the handshake. Node's callbacks (SNICallback, ALPNCallback) can neither request a
// client certificate per host nor refuse with an alert. OpenSSL checks the rest of the message.

/** Max bytes of a hello: honest clients send up to 2 KiB, and 4 with post-quantum keys. */
const maxBytes = 16 * 1024
const maxRecords = 16

const handshakeRecord = 22
const clientHello = 1
const serverNameExtension = 0
const groupsExtension = 10
const alpnExtension = 16
const boundExtension = 23
const sessionTicketExtension = 35
const preSharedKeyExtension = 41
const versionsExtension = 43
const hostNameType = 0

/** `not_tls`: it begins with something else, such as plain HTTP; `client_hello`: malformed TLS. */
type ClientHelloFault = 'not_tls' | 'client_hello'

export interface ClientHello {
  /** In lower case (RFC 6066 section 3); null if the client names none. */
  readonly serverName: string | null
  /**
   * Whether a certificate authority checks that the host is served here: only `acme-tls/1` (RFC 8737 section
   * 3).
   */
  readonly isValidation: boolean
  /** The session to resume (RFC 8446 section 4.2.11, RFC 5077 section 3.2). */
  readonly ticket: Buffer | null
  readonly offer: ClientOffer
}

/** What a client offers, by IANA numbers. */
export interface ClientOffer {
  readonly suites: readonly number[]
  readonly groups: readonly number[]
  /** Empty for TLS 1.2 and below. */
  readonly versions: readonly number[]
  /** Whether it binds the keys of TLS 1.2 to the handshake (RFC 7627). */
  readonly isBound: boolean
}

/** Reads the hello at the start of `bytes`; null if it is incomplete. */
export function readClientHello(bytes: Buffer): ClientHello | ClientHelloFault | null {
  const message = messageOf(bytes)
  if (message === null || typeof message === 'string') return message
  const reader = new Reader(message)
  // legacy_version and random, session id, cipher suites, compression methods
  reader.skip(2 + 32)
  reader.skip(reader.number(1))
  const suites = reader.part(reader.number(2))
  reader.skip(reader.number(1))
  // TLS 1.2 allows hellos without extensions.
  if (reader.isAtEnd) return reader.isBeyond ? 'client_hello' : helloIn(suites, reader)!
  const hello = helloIn(suites, reader.part(reader.number(2)))
  return hello === null || !reader.isAtEnd ? 'client_hello' : hello
}

/** Joins the handshake message from its records (RFC 8446 section 5.1). */
function messageOf(bytes: Buffer): Buffer | ClientHelloFault | null {
  let message: Buffer | null = null
  let records = 0
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] !== handshakeRecord) return at === 0 ? 'not_tls' : 'client_hello'
    if (at + 1 < bytes.length && bytes[at + 1] !== 3) return at === 0 ? 'not_tls' : 'client_hello'
    if (at + 5 > bytes.length) break
    const length = bytes.readUInt16BE(at + 3)
    if (length === 0 || ++records > maxRecords) return 'client_hello'
    const end = at + 5 + length
    const content = bytes.subarray(at + 5, end)
    message = message === null ? content : Buffer.concat([message, content])
    const whole = wholeOf(message)
    if (whole !== null) return whole
    at = end
  }
  return bytes.length > maxBytes ? 'client_hello' : null
}

function wholeOf(message: Buffer): Buffer | ClientHelloFault | null {
  if (message.length > 0 && message[0] !== clientHello) return 'client_hello'
  if (message.length < 4) return null
  const length = message.readUIntBE(1, 3)
  if (length > maxBytes) return 'client_hello'
  return message.length < 4 + length ? null : message.subarray(4, 4 + length)
}

/** Finds the extensions that we need; null if they are malformed. */
function helloIn(suites: Reader, extensions: Reader): ClientHello | null {
  const offer = new Offer(suites)
  let serverName: string | null = null
  let isValidation = false
  let ticket: Buffer | null = null
  while (!extensions.isAtEnd) {
    const type = extensions.number(2)
    const content = extensions.part(extensions.number(2))
    if (type === serverNameExtension) {
      // An extension must not come twice (RFC 8446 section 4.2), and readers would disagree on which counts.
      const name: string | null = serverName === null ? hostNameIn(content) : null
      if (name === null) return null
      serverName = name
    } else if (type === alpnExtension)
      isValidation = content.text(validationOnly.length) === validationOnly && content.isAtEnd
    else if (type === sessionTicketExtension) ticket ??= content.rest()
    // Of several, OpenSSL takes the first that it can open; clients send one.
    else if (type === preSharedKeyExtension) ticket = firstIdentity(content)
    else if (type === groupsExtension) offer.groupList = content
    else if (type === versionsExtension) offer.versionList = content
    else if (type === boundExtension) offer.isBound = true
  }
  return extensions.isBeyond ? null : { serverName, isValidation, ticket, offer }
}

class Offer implements ClientOffer {
  /** Each with its length before it. */
  groupList: Reader | null = null
  versionList: Reader | null = null
  isBound = false
  readonly #suiteList: Reader

  constructor(suites: Reader) {
    this.#suiteList = suites
  }

  get suites(): readonly number[] {
    return numbersIn(this.#suiteList.rest())
  }

  get groups(): readonly number[] {
    return numbersIn(this.groupList?.rest()?.subarray(2))
  }

  get versions(): readonly number[] {
    return numbersIn(this.versionList?.rest()?.subarray(1))
  }
}

/** Reads numbers of two bytes. */
function numbersIn(bytes: Buffer | null = null): readonly number[] {
  const count = bytes === null ? 0 : bytes.length >> 1
  return Array.from({ length: count }, (_, i) => bytes!.readUInt16BE(2 * i))
}

function firstIdentity(content: Reader): Buffer | null {
  const identities = content.part(content.number(2))
  return identities.part(identities.number(2)).rest()
}

/** A list of protocols (RFC 7301 section 3.1) that contains only `acme-tls/1`. */
const validationOnly = '\x00\x0b\x0aacme-tls/1'

function hostNameIn(content: Reader): string | null {
  const list = content.part(content.number(2))
  const type = list.number(1)
  const name = list.text(list.number(2))
  const isWhole = content.isAtEnd && list.isAtEnd && !list.isBeyond
  return isWhole && type === hostNameType && /^[!-~]+$/.test(name) ? name.toLowerCase() : null
}

/**
 * Reads big-endian numbers and parts in sequence; reading beyond the end yields nothing, and is remembered.
 */
class Reader {
  isBeyond = false
  readonly #bytes: Buffer
  readonly #end: number
  #at: number

  constructor(bytes: Buffer, at = 0, end = bytes.length) {
    this.#bytes = bytes
    this.#at = at
    this.#end = end
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#end
  }

  number(bytes: 1 | 2): number {
    const at = this.#at
    this.skip(bytes)
    if (this.isBeyond) return 0
    return bytes === 1 ? this.#bytes[at]! : (this.#bytes[at]! << 8) | this.#bytes[at + 1]!
  }

  part(length: number): Reader {
    const at = this.#at
    this.skip(length)
    const part = new Reader(this.#bytes, at, this.#at)
    part.isBeyond = this.isBeyond
    return part
  }

  rest(): Buffer | null {
    return this.isAtEnd ? null : this.#bytes.subarray(this.#at, this.#end)
  }

  text(length: number): string {
    const at = this.#at
    this.skip(length)
    return this.#bytes.toString('latin1', at, this.#at)
  }

  skip(length: number): void {
    this.#at += length
    if (this.#at <= this.#end) return
    this.#at = this.#end
    this.isBeyond = true
  }
}
