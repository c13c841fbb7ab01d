// The facts about an exchange that expressions can use, computed on first use.

import type { Facts, RequestFacts } from '../../expression/expression.ts'
import { noTls, type TlsFacts } from '../../expression/tls-facts.ts'
import { normalPath, withoutQuery } from '../../base/path/path.ts'
import { errorRows } from '../../errors/catalogue/catalogue.ts'
import type { Refusal } from '../../errors/catalogue/refusal.ts'
import { abroad, equalsIgnoreCase, field } from '../../http1/fields/fields.ts'
import { isMethodOverride } from '../../http1/fields/method-override.ts'
import type { RequestHead } from '../../http1/heads/request-head.ts'
import { isValid, certificateOf } from './client-certificate.ts'
import type { Exchange } from './exchange.ts'

/** Always the same object, with the normal path, so that no spelling bypasses a rule. */
export function factsOf(x: Exchange): Facts {
  return (x.facts ??= new ExchangeFacts(x, new ExchangeRequestFacts(x)))
}

/** For rules that rewrite the path as it was sent. */
export function sentFactsOf(x: Exchange): Facts {
  return new ExchangeFacts(x, new SentRequestFacts(x))
}

class ExchangeFacts implements Facts {
  readonly request: RequestFacts
  readonly #x: Exchange

  constructor(x: Exchange, request: RequestFacts) {
    this.#x = x
    this.request = request
  }

  get zone(): string {
    return this.#x.zone?.config.name ?? ''
  }

  get response(): Facts['response'] {
    const { refusal } = this.#x
    return refusal && { code: errorRows[refusal.error].status }
  }

  get error(): Facts['error'] {
    return this.#x.refusal && describe(this.#x.refusal)
  }
}

function describe({ error: name }: Refusal): Facts['error'] {
  const { code, category } = errorRows[name]
  return { code, name, category }
}

class ExchangeRequestFacts implements RequestFacts {
  readonly #x: Exchange
  #path: string | null = null
  #query: string | null = null
  #hasOtherMethod: boolean | null = null
  #headers: ReadonlyMap<string, readonly string[]> | null = null
  #tls: TlsFacts | null = null

  constructor(x: Exchange) {
    this.#x = x
  }

  /** Throws if origins may differ: some treat `post` like POST, or take the method from a field. */
  get method(): string {
    const { method, fields } = this.#x.head
    if (lowerCase.test(method) && standard.has(method.toUpperCase())) throw ambiguousMethod
    if ((this.#hasOtherMethod ??= namesOtherMethod(method, fields))) throw ambiguousMethod
    return method
  }

  get host(): string {
    return this.#x.host
  }

  get path(): string {
    return (this.#path ??= this.pathOf(this.#x))
  }

  get query(): string {
    return (this.#query ??= queryOf(this.#x.head.target))
  }

  get headers(): ReadonlyMap<string, readonly string[]> {
    return (this.#headers ??= headersOf(this.headOf(this.#x)))
  }

  get ip(): string {
    return this.#x.clientAddress
  }

  get country(): string {
    return this.#x.plane.geo?.countryOf(this.#x.clientAddress) ?? ''
  }

  get asn(): number {
    return this.#x.plane.geo?.networkOf(this.#x.clientAddress) ?? 0
  }

  get scheme(): 'http' | 'https' {
    return this.#x.scheme
  }

  get tls(): TlsFacts {
    return (this.#tls ??= tlsFactsOf(this.#x))
  }

  protected headOf({ head }: Exchange): RequestHead {
    return head
  }

  protected pathOf({ head, paths }: Exchange): string {
    return paths === null ? normalPath(head.target) : withoutQuery(paths[0]!)
  }
}

function tlsFactsOf(x: Exchange): TlsFacts {
  const { tls } = x.client
  if (tls === null) return noTls
  const { version, cipher, serverName } = tls
  const client = certificateOf(x)
  const isVerified = client !== null && isValid(x, client)
  return { version, cipher, serverName: serverName ?? '', client, isVerified }
}

const lowerCase = /[a-z]/
/** Shared, since a loop may throw it in every step. */
const ambiguousMethod = new Error('ambiguous method')
const standard: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

function namesOtherMethod(method: string, fields: readonly string[]): boolean {
  const own = method.toLowerCase()
  for (let i = 0; i < fields.length; i += 2)
    if (isMethodOverride(fields[i]!) && !equalsIgnoreCase(fields[i + 1]!, own)) return true
  return false
}

class SentRequestFacts extends ExchangeRequestFacts {
  /** What a gate removed cannot come back by a rule. */
  protected override headOf({ outgoing }: Exchange): RequestHead {
    return outgoing
  }

  protected override pathOf({ head }: Exchange): string {
    return withoutQuery(head.target)
  }
}

function queryOf(target: string): string {
  const query = target.indexOf('?')
  return query === -1 ? '' : target.slice(query + 1)
}

/** Omits our cookies, and fields that only this gateway sets, which a rule could copy to an origin. */
function headersOf({ fields, ids }: RequestHead): ReadonlyMap<string, readonly string[]> {
  const headers = new Map<string, string[]>()
  for (let i = 0; i < fields.length; i += 2) {
    const id = ids[i >> 1]!
    const isOurs = id === field.clientCertificate || id === field.identity
    const value = isOurs ? null : abroad(id, fields[i + 1]!)
    if (value === null) continue
    const name = fields[i]!.toLowerCase()
    const values = headers.get(name)
    if (values === undefined) headers.set(name, [value])
    else values.push(value)
  }
  return headers
}
