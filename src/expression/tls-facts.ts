// The facts about TLS and the client certificate that operators' expressions may read.

export interface TlsFacts {
  /** Such as TLSv1.3; empty for plain HTTP. */
  readonly version: string
  /** The IANA name of the suite; empty for plain HTTP. */
  readonly cipher: string
  /** The host of the handshake, in lower case; empty if it named none. */
  readonly serverName: string
  /** Null if no certificate was requested, or none was presented. */
  readonly client: ClientFacts | null
  readonly isVerified: boolean
}

/** The contents of a certificate; texts are ASCII. */
interface ClientFacts {
  /** In the format of RFC 4514. */
  readonly subject: string
  readonly issuer: string
  /** In lower-case hexadecimal, as is the next. */
  readonly serial: string
  /** SHA-256 of its DER. */
  readonly fingerprint: string
  /** Wall-clock ms. */
  readonly notBefore: number
  readonly notAfter: number
  /** From its subjectAltName. */
  readonly dnsNames: readonly string[]
  readonly uris: readonly string[]
  readonly emails: readonly string[]
}

export const noTls: TlsFacts = { version: '', cipher: '', serverName: '', client: null, isVerified: false }

/**
 * Of a certificate: characters per text, names of a kind, and their average length. Rules are priced for
 * these.
 */
export const maxNameLength = 1024
export const maxNames = 128
export const typicalName = 128

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

/** Texts are empty without a certificate; those longer than the price allows throw. */
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

  /** Unix time in seconds; 0 without a certificate. */
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

/** Throws if a text is too long, so that the expression fails. */
function bounded(text: string): string {
  if (text.length > maxNameLength) throw tooLarge
  return text
}

function boundedList(names: readonly string[]): readonly string[] {
  let characters = 0
  for (const name of names) characters += bounded(name).length
  if (names.length > maxNames || characters > maxNames * typicalName) throw tooLarge
  return names
}

function secondsOf(ms: number): bigint {
  return BigInt(Math.floor(ms / 1000))
}

/** Shared, since a loop may throw it in every step. */
const tooLarge = new Error('a name of the certificate is too long')
