// An authority of ACME in a world, with certificates that are real; what it promises of RFC 8555 without its encoding.

import crypto, { createHash, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  AcmeProblem,
  type Authority,
  type AuthorityAccount,
  type AuthorityAuthorization,
  type AuthorityOrder,
  type RenewalInfo,
} from '../../src/certificates/acme/authority.ts'
import { certificateId } from '../../src/certificates/acme/certificate-id.ts'
import { StoreUnreachable } from '../../src/store/contract/store.ts'
import type { Process, World } from './world.ts'

/** `odd`: it finds challenges invalid that are not; `stuck`: it forgets orders that it has taken. */
export type AuthorityState = 'fine' | 'slow' | 'down' | 'failing' | 'busy' | 'odd' | 'stuck'

/** When it wants a certificate renewed (RFC 9773): it does not say, as is usual, at once, or too late. */
export type RenewalWish = 'none' | 'usual' | 'early' | 'late'

interface Order {
  readonly url: string
  readonly host: string
  readonly token: string
  readonly account: string
  readonly placedAt: number
  readonly startedAt: number
  status: AuthorityOrder['status']
  chain: string | null
}

export interface Check {
  readonly host: string
  readonly token: string
  readonly wanted: string
  /** Who asks for the check. */
  readonly process: Process
  /** When the order was placed, in ms of the world, and by the clock of the day. */
  readonly placedAt: number
  readonly startedAt: number
}

/** Whether a machine that the authority reaches at random responds to a challenge. */
type Validate = (check: Check) => boolean

const hour = 3_600_000
/** In parts of the life of a certificate after its issue. */
const windows: Readonly<Record<RenewalWish, readonly [start: number, end: number]>> = {
  ...{ none: [0, 0], usual: [0.6, 0.65], early: [-0.2, -0.1], late: [1.1, 1.2] },
}
const keys = Array.from({ length: 40 }, () => generateKeyPairSync('ec', { namedCurve: 'P-256' }))
const own = keys.pop()!

export class SimulatedAuthority {
  state: AuthorityState = 'fine'
  /** Of its certificates, in ms. */
  life = 90 * 24 * hour
  wish: RenewalWish = 'none'
  readonly accounts = new Set<string>()
  /** Called with each order that is placed, before it is. */
  ordered: (host: string, process: Process) => void = () => {}
  readonly #world: World
  readonly #validate: Validate
  readonly #orders: Order[] = []
  readonly #stuck = new Set<Order>()
  /** By the names of certificates: when they begin. */
  readonly #issued = new Map<string, number>()
  #serial = 0
  #nextKey = 0

  constructor(world: World, validate: Validate) {
    this.#world = world
    this.#validate = validate
  }

  /** Runs something in which keys are made at once and sleeping takes the time of the world. */
  async during(work: () => Promise<void>): Promise<void> {
    const { generateKeyPair } = crypto
    const { setTimeout: sleep } = timers
    const make = Object.assign(() => {}, {
      [promisify.custom]: async () => keys[this.#nextKey++ % keys.length],
    })
    Object.assign(crypto, { generateKeyPair: make })
    Object.assign(timers, { setTimeout: sleepInWorld })
    syncBuiltinESMExports()
    try {
      await work()
    } finally {
      Object.assign(crypto, { generateKeyPair })
      Object.assign(timers, { setTimeout: sleep })
      syncBuiltinESMExports()
    }
  }

  /** What a process of a machine has of it. */
  connect(process: Process, account: AuthorityAccount): Authority {
    return new Connection(this, this.#world, process, account)
  }

  register(key: string): string {
    const url = `/accounts/${thumbprintOf(key)}`
    this.accounts.add(url)
    return url
  }

  order(host: string, account: string, process: Process): AuthorityOrder {
    if (!this.accounts.has(account)) throw problem('accountDoesNotExist', 400)
    this.ordered(host, process)
    const token = `t${this.#orders.length}`
    const url = `/orders/${this.#orders.length}`
    const [placedAt, startedAt] = [this.#world.time, this.#world.outside.clock.now()]
    this.#orders.push({ url, host, token, account, placedAt, startedAt, status: 'pending', chain: null })
    return this.view(url)
  }

  view(url: string): AuthorityOrder {
    const { status, host, chain } = this.#orderAt(url)
    const certificate = chain === null ? null : `${url}/certificate`
    return { ...{ url, status, certificate, problem: null }, authorizations: [host], finalize: url }
  }

  authorizations(url: string): readonly AuthorityAuthorization[] {
    const { status, token } = this.#orderAt(url)
    const found = status === 'pending' ? 'pending' : status === 'invalid' ? 'invalid' : 'valid'
    const detail = status === 'invalid' ? problem('unauthorized', 403) : null
    return [{ status: found, challenges: [{ type: 'http-01', url, token, problem: detail }] }]
  }

  respond(url: string, key: string, process: Process): void {
    const order = this.#orderAt(url)
    const check = () => {
      if (order.status !== 'pending' || this.#forgets(order)) return
      const wanted = authorizationOf(order.token, key)
      const isRight = this.#validate({ ...order, wanted, process })
      order.status = isRight && !(this.state === 'odd' && this.#world.maybe()) ? 'ready' : 'invalid'
      this.#world.note(`the order for ${order.host} is ${order.status}`)
    }
    this.#world.later(this.#world.outside, this.#delay(), check)
  }

  finalize(url: string, key: string): void {
    const order = this.#orderAt(url)
    if (order.status !== 'ready') throw problem('orderNotReady', 403)
    order.status = 'processing'
    const issue = () => {
      if (this.#forgets(order)) return
      const now = this.#world.outside.clock.now()
      const life = { notBefore: now - hour, notAfter: now + this.life }
      order.chain = certificateFor(order.host, key, { serial: ++this.#serial, ...life })
      this.#issued.set(certificateId(order.chain)!, now)
      order.status = 'valid'
      this.#world.note(`the certificate of ${order.host} is issued`)
    }
    this.#world.later(this.#world.outside, this.#delay(), issue)
  }

  download(url: string): string {
    const { chain } = this.#orderAt(url)
    if (chain === null) throw problem('orderNotReady', 403)
    return chain
  }

  renewalInfo(name: string): RenewalInfo | null {
    const issuedAt = this.#issued.get(name)!
    const [start, end] = windows[this.wish]
    if (start === end) return null
    const window = { start: issuedAt + this.life * start, end: issuedAt + this.life * end }
    return { window, retryAfter: this.#world.maybe() ? null : this.#world.below(24 * hour) }
  }

  /** Throws what a request gets instead of a response. */
  refuse(): void {
    const world = this.#world
    if (this.state === 'down') throw unreachable()
    if (this.state === 'failing') throw problem('serverInternal', 503)
    if (this.state !== 'busy') return
    const retryAfter = world.below(20) * 60_000
    world.note(`the authority asks for a pause of ${retryAfter} ms`)
    throw new AcmeProblem({ type: 'rateLimited', detail: 'too many', status: 429, retryAfter })
  }

  /** Whether it has forgotten an order. */
  get isStuck(): boolean {
    return this.#stuck.size > 0
  }

  #forgets(order: Order): boolean {
    if (this.state === 'stuck') this.#stuck.add(order)
    return this.#stuck.has(order)
  }

  #delay(): number {
    return this.#world.below(this.state === 'slow' ? 60_000 : 3_000)
  }

  #orderAt(url: string): Order {
    return this.#orders.find(order => order.url === url)!
  }
}

class Connection implements Authority {
  readonly pause = null
  readonly #authority: SimulatedAuthority
  readonly #world: World
  readonly #process: Process
  readonly #key: string
  #account: string | null
  #isClosed = false

  constructor(authority: SimulatedAuthority, world: World, process: Process, account: AuthorityAccount) {
    this.#authority = authority
    this.#world = world
    this.#process = process
    this.#key = account.key
    this.#account = account.url
  }

  async register(): Promise<string> {
    return (this.#account = await this.#ask(() => this.#authority.register(this.#key)))
  }

  async updateContact(): Promise<void> {}

  order(host: string): Promise<AuthorityOrder> {
    return this.#ask(() => this.#authority.order(host, this.#account!, this.#process))
  }

  poll(url: string): Promise<AuthorityOrder> {
    return this.#ask(() => this.#authority.view(url))
  }

  authorizations({ url }: AuthorityOrder): Promise<readonly AuthorityAuthorization[]> {
    return this.#ask(() => this.#authority.authorizations(url))
  }

  async keyAuthorization({ token }: { readonly token: string }): Promise<string> {
    return authorizationOf(token, this.#key)
  }

  async validation(): Promise<never> {
    throw new Error('it offers no such challenge')
  }

  respond({ url }: { readonly url: string }): Promise<void> {
    return this.#ask(() => this.#authority.respond(url, this.#key, this.#process))
  }

  finalize({ url }: AuthorityOrder, _: string, key: string): Promise<void> {
    return this.#ask(() => this.#authority.finalize(url, key))
  }

  download({ url }: AuthorityOrder): Promise<string> {
    return this.#ask(() => this.#authority.download(url))
  }

  renewalInfo(name: string): Promise<RenewalInfo | null> {
    return this.#ask(() => this.#authority.renewalInfo(name))
  }

  close(): void {
    this.#isClosed = true
  }

  /** An authority takes a request once, as its nonce says, however often that arrives. */
  async #ask<T>(serve: () => T): Promise<T> {
    let served: (() => T) | null = null
    const result = await this.#world
      .call(
        this.#process,
        () => {
          this.#authority.refuse()
          return (served ??= attempt(serve))()
        },
        30_000,
      )
      .catch(failure => {
        throw failure instanceof StoreUnreachable ? unreachable() : failure
      })
    if (this.#isClosed) throw new DOMException('it is closed', 'AbortError')
    return result
  }
}

function problem(type: string, status: number): AcmeProblem {
  return new AcmeProblem({ type, detail: type, status })
}

function unreachable(): AcmeProblem {
  return new AcmeProblem({ type: null, detail: 'no response', status: null })
}

function sleepInWorld(ms: number, _: undefined, { signal }: { readonly signal: AbortSignal }): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(new DOMException('it stops', 'AbortError'))
    }
    if (signal.aborted) return reject(new DOMException('it stops', 'AbortError'))
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop)
  })
}

function thumbprintOf(key: string): string {
  return createHash('sha256').update(key).digest('base64url')
}

function authorizationOf(token: string, key: string): string {
  return `${token}.${thumbprintOf(key)}`
}

interface Life {
  readonly serial: number
  readonly notBefore: number
  readonly notAfter: number
}

const [commonName, signature, alternativeNames, issuerKey] = [
  ...['550403', '2a8648ce3d040302', '551d11', '551d23'].map(hex => der(0x06, Buffer.from(hex, 'hex'))),
] as [Buffer, Buffer, Buffer, Buffer]

/** A certificate by RFC 5280, as PEM. */
function certificateFor(host: string, key: string, { serial, notBefore, notAfter }: Life): string {
  const number = Buffer.alloc(5, 1)
  number.writeUInt32BE(serial, 1)
  const names = der(0x30, der(0x82, Buffer.from(host)))
  const issuer = der(0x30, der(0x80, Buffer.alloc(20, 1)))
  const extensions = [der(0x30, alternativeNames, der(0x04, names)), der(0x30, issuerKey, der(0x04, issuer))]
  const facts = der(
    0x30,
    ...[der(0xa0, der(0x02, Buffer.of(2))), der(0x02, number), der(0x30, signature), nameOf('authority')],
    ...[der(0x30, timeOf(notBefore), timeOf(notAfter)), nameOf(host), publicKeyOf(key)],
    der(0xa3, der(0x30, ...extensions)),
  )
  const signed = der(0x03, Buffer.of(0), sign('sha256', facts, own.privateKey as KeyObject))
  const text = der(0x30, facts, der(0x30, signature), signed).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${text.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`
}

function publicKeyOf(key: string): Buffer {
  return createPublicKey(key).export({ type: 'spki', format: 'der' })
}

function nameOf(text: string): Buffer {
  return der(0x30, der(0x31, der(0x30, commonName, der(0x0c, Buffer.from(text)))))
}

function timeOf(at: number): Buffer {
  const [digits] = new Date(at).toISOString().replace(/[-:T]/g, '').slice(2).split('.')
  return der(0x17, Buffer.from(`${digits}Z`))
}

function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.of(tag, ...head), content])
}

/** What a request came to, for each time that it arrives. */
function attempt<T>(serve: () => T): () => T {
  try {
    const result = serve()
    return () => result
  } catch (failure) {
    return () => {
      throw failure
    }
  }
}
