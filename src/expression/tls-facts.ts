// What operators' expressions may look at of the TLS of a connection, and of the certificate of its client.

export interface TlsFacts {
  /** Such as TLSv1.3; empty for plain HTTP. */
  readonly version: string
  /** The name of the suite in the registry of IANA; empty for plain HTTP. */
  readonly cipher: string
  /** The host that the handshake was for, in lower case; empty where it named none. */
  readonly serverName: string
  /** Null where no certificate was asked for, or none was shown. */
  readonly client: ClientFacts | null
  /** Whether the zone accepts its certificate. */
  readonly isVerified: boolean
}

/** What a certificate says; texts are ASCII. */
interface ClientFacts {
  /** As RFC 4514 writes it. */
  readonly subject: string
  readonly issuer: string
  /** Lower-case hexadecimal digits, as the next. */
  readonly serial: string
  /** SHA-256 of its DER. */
  readonly fingerprint: string
  /** Wall-clock ms. */
  readonly notBefore: number
  readonly notAfter: number
  /** Those of its subjectAltName. */
  readonly dnsNames: readonly string[]
  readonly uris: readonly string[]
  readonly emails: readonly string[]
}

export const noTls: TlsFacts = { version: '', cipher: '', serverName: '', client: null, isVerified: false }

/** The most characters of a text of a certificate, the most alternative names of a kind, and what they may have on average: rules are priced for these. */
export const longestName = 1024
export const mostNames = 128
export const usualName = 128

export const tlsFields = {
  version: 'string',
  cipher: 'string',
  server_name: 'string',
  client: 'ClientCertificate',
}

export const clientFields = {
  present: 'bool',
  verified: 'bool',
  subject: 'string',
  issuer: 'string',
  serial: 'string',
  fingerprint_sha256: 'string',
  not_before: 'int',
  not_after: 'int',
  dns_names: 'list<string>',
  uris: 'list<string>',
  emails: 'list<string>',
}

/** Is the class of `request.tls`. */
export class TlsView {
  readonly #facts: TlsFacts

  constructor(facts: TlsFacts) {
    this.#facts = facts
  }

  get version(): string {
    return this.#facts.version
  }

  get cipher(): string {
    return this.#facts.cipher
  }

  get server_name(): string {
    return this.#facts.serverName
  }

  get client(): ClientView {
    return new ClientView(this.#facts.client, this.#facts.isVerified)
  }
}

/** Is the class of `request.tls.client`, whose texts are empty where there is no certificate. A text or a list that is longer than rules are priced for throws. */
export class ClientView {
  readonly #facts: ClientFacts | null
  readonly verified: boolean

  constructor(facts: ClientFacts | null, isVerified: boolean) {
    this.#facts = facts
    this.verified = isVerified
  }

  get present(): boolean {
    return this.#facts !== null
  }

  get subject(): string {
    return bounded(this.#facts?.subject ?? '')
  }

  get issuer(): string {
    return bounded(this.#facts?.issuer ?? '')
  }

  get serial(): string {
    return bounded(this.#facts?.serial ?? '')
  }

  get fingerprint_sha256(): string {
    return this.#facts?.fingerprint ?? ''
  }

  /** Unix time in seconds; 0 where there is no certificate. */
  get not_before(): bigint {
    return secondsOf(this.#facts?.notBefore ?? 0)
  }

  get not_after(): bigint {
    return secondsOf(this.#facts?.notAfter ?? 0)
  }

  get dns_names(): readonly string[] {
    return boundedList(this.#facts?.dnsNames ?? [])
  }

  get uris(): readonly string[] {
    return boundedList(this.#facts?.uris ?? [])
  }

  get emails(): readonly string[] {
    return boundedList(this.#facts?.emails ?? [])
  }
}

/** Throws for a text that is too long, so that the expression fails. */
function bounded(text: string): string {
  if (text.length > longestName) throw tooLarge
  return text
}

function boundedList(names: readonly string[]): readonly string[] {
  let characters = 0
  for (const name of names) characters += bounded(name).length
  if (names.length > mostNames || characters > mostNames * usualName) throw tooLarge
  return names
}

function secondsOf(ms: number): bigint {
  return BigInt(Math.floor(ms / 1000))
}

/** Shared by all, since a loop may hit it in every step. */
const tooLarge = new Error('a name of the certificate is too long')
