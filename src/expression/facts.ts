// The facts that operators' expressions may read, as our code and the language see them.

import { type TlsFacts, TlsView } from './tls-facts.ts'

export interface Facts {
  readonly request: RequestFacts
  /** The status that would be sent; null outside of error rules. */
  readonly response: { readonly code: number } | null
  readonly error: { readonly code: number; readonly name: string; readonly category: string } | null
  readonly zone: string
}

export interface RequestFacts {
  /** Throws for spellings that readers interpret differently (`post`). */
  readonly method: string
  /** In lower case, without port. */
  readonly host: string
  /** In normal form, without query; as sent for rewrites. */
  readonly path: string
  readonly query: string
  /** By lower-case names. Must be a Map itself, not a subclass. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  readonly ip: string
  /** ISO 3166-1 alpha-2; empty when unknown. */
  readonly country: string
  /** 0 when unknown. */
  readonly asn: number
  /** The scheme that the client used, or that a trusted proxy reports. */
  readonly scheme: 'http' | 'https'
  /** Of the connection to this gateway. */
  readonly tls: TlsFacts
}

/** Converts facts to the types that the language knows: its integers are bigint, its structures classes. */
export class Variables {
  readonly #facts: Facts
  readonly #path: string | undefined

  constructor(facts: Facts, path?: string) {
    this.#facts = facts
    this.#path = path
  }

  get zone(): string {
    return this.#facts.zone
  }

  get request(): RequestView {
    return new RequestView(this.#facts.request, this.#path)
  }

  get response(): ResponseView | undefined {
    return this.#facts.response ? new ResponseView(this.#facts.response) : undefined
  }

  get error(): ErrorView | undefined {
    return this.#facts.error ? new ErrorView(this.#facts.error) : undefined
  }
}

/** Stands for `request.tls` without a field; no expression can contain that name. */
export const tlsAlone = 'tls alone'

export class RequestView {
  readonly #facts: RequestFacts
  readonly #path: string | undefined

  constructor(facts: RequestFacts, path?: string) {
    this.#facts = facts
    this.#path = path
  }

  get method(): string {
    return this.#facts.method
  }

  get host(): string {
    return this.#facts.host
  }

  get path(): string {
    return this.#path ?? this.#facts.path
  }

  get query(): string {
    return this.#facts.query
  }

  get headers(): ReadonlyMap<string, readonly string[]> {
    return this.#facts.headers
  }

  get ip(): string {
    return this.#facts.ip
  }

  get country(): string {
    return this.#facts.country
  }

  get asn(): bigint {
    return BigInt(this.#facts.asn)
  }

  get scheme(): string {
    return this.#facts.scheme
  }

  get tls(): TlsView {
    return new TlsView(this.#facts.tls)
  }

  get [tlsAlone](): boolean {
    return this.#facts.scheme === 'https'
  }
}

export class ResponseView {
  readonly #response: NonNullable<Facts['response']>

  constructor(response: NonNullable<Facts['response']>) {
    this.#response = response
  }

  get code(): bigint {
    return BigInt(this.#response.code)
  }
}

export class ErrorView {
  readonly #error: NonNullable<Facts['error']>

  constructor(error: NonNullable<Facts['error']>) {
    this.#error = error
  }

  get code(): bigint {
    return BigInt(this.#error.code)
  }

  get name(): string {
    return this.#error.name
  }

  get category(): string {
    return this.#error.category
  }
}
