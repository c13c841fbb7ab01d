// Checks whether a provider is reachable and accepts a key, on a connection of its own.

import type { ClientRequest, IncomingMessage } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { request } from '../../net/http/node-http.ts'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { Provider } from '../../ai/providers/providers.ts'
import { originOf } from '../../ai/providers/provider-origin.ts'
import type { AiConfig, Endpoint, OriginConfig, Timeouts } from '../../config/model/config.ts'
import type { ErrorName } from '../../errors/catalogue/catalogue.ts'
import { type Failure, failureOf, fault, originFailure } from '../../errors/catalogue/origin-failure.ts'
import type { Logger } from '../../log/log.ts'
import type { EdgeMetrics } from '../../metrics/counters/edge-metrics.ts'
import type { Phase } from '../../errors/catalogue/phase.ts'
import { guarded } from '../../base/guarded.ts'
import type { MadeKey } from '../cloud-keys/made-key.ts'
import { CloudKeys } from '../cloud-keys/cloud-keys.ts'
import { Dial } from '../origin/dial/dial.ts'
import { Handshakes } from '../origin/dial/handshakes.ts'
import { AddressBook } from '../resolver/address-book.ts'
import { AddressGuard } from '../resolver/address-guard.ts'
import { NameLookup } from '../resolver/name-lookup.ts'

const defaultTimeout = 10_000

interface ProviderCheck {
  readonly status: number | null
  readonly error: ErrorName | null
  /** Of the system, TLS or DNS; empty for none. */
  readonly code: string
  readonly duration: number
}

interface Get {
  readonly path: string
  readonly key: Credential
  /** Ms. */
  readonly timeout: number
  /** Bytes; 0 for a body that is not read. */
  readonly maxBody: number
}

interface ProviderCheckerOptions {
  readonly metrics: EdgeMetrics
  readonly crashed: (bug: unknown) => void
  readonly log?: Pick<Logger, 'info' | 'warn'>
  readonly clock?: Clock
  readonly timeout?: number
}

type Credential = string | MadeKey | null

const silent = { info: () => {}, warn: () => {} }

type Outcome =
  | { readonly status: number; readonly body: Buffer | null }
  | { readonly phase: Phase; readonly failure: Failure }

export class ProviderChecker {
  readonly #options: ProviderCheckerOptions
  readonly #clock: Clock
  readonly #lookup = new NameLookup()
  readonly #guard = new AddressGuard()
  readonly #cloudKeys: CloudKeys

  constructor(options: ProviderCheckerOptions) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#cloudKeys = new CloudKeys({ clock: this.#clock, log: options.log ?? silent })
  }

  set ownEndpoints(endpoints: readonly Endpoint[]) {
    this.#guard.ownEndpoints = endpoints
  }

  close(): void {
    this.#lookup.close()
  }

  /** Makes the key where that is due. Does not follow redirects, or read the body. Never rejects. */
  async check(provider: Provider, ai: AiConfig, key: string | null): Promise<ProviderCheck> {
    const began = performance.now()
    const made = this.#cloudKeys.of(provider, ai)
    const flaw = await made?.ensure()
    if (made !== null && flaw != null)
      return {
        status: null,
        error: 'service_unavailable',
        code: flaw,
        duration: performance.now() - began,
      }
    const { timeout = defaultTimeout } = this.#options
    const { check: path } = provider
    const ask = { path, key: made ?? key, timeout, maxBody: 0 }
    const outcome = await this.get(originOf(provider, ai), provider, ask)
    const duration = performance.now() - began
    if ('status' in outcome) return { status: outcome.status, error: null, code: '', duration }
    const { phase, failure } = outcome
    return {
      status: null,
      error: originFailure(phase, failure),
      code: failure.cause.code ?? '',
      duration,
    }
  }

  /** Gets a resource of a provider. Does not follow redirects. Never rejects. */
  async get(origin: OriginConfig, provider: Provider, ask: Get): Promise<Outcome> {
    const { crashed } = this.#options
    const end = new AbortController()
    const abort = () => end.abort()
    const timer = setTimeout(guarded(abort, crashed), ask.timeout)
    const dialled = await this.#dial(origin, ask.timeout)
    try {
      if ('failure' in dialled) return dialled
      return await respond(dialled.socket, provider, { ...ask, signal: end.signal, crashed })
    } finally {
      clearTimeout(timer)
      if ('socket' in dialled) dialled.socket.destroy()
    }
  }

  #dial(
    config: OriginConfig,
    timeout: number,
  ): Promise<{ readonly socket: Socket } | { readonly phase: Phase; readonly failure: Failure }> {
    const clock = this.#clock
    const { metrics, crashed } = this.#options
    const { host } = config.transport.proxy ?? config
    const { dns } = config.transport
    const parts = { name: host, dns, lookup: this.#lookup, clock, metrics, changed: () => {}, crashed }
    return new Promise(resolve => {
      let timer: NodeJS.Timeout | undefined
      const settle = (outcome: Parameters<typeof resolve>[0]) => {
        clearInterval(timer)
        resolve(outcome)
      }
      const dialer = {
        target: {
          config,
          book: isIP(host) === 0 ? new AddressBook(parts) : null,
          guard: this.#guard,
          hasDescriptor: true,
          handshakes: new Handshakes(),
        },
        protocols: ['http/1.1'],
        dialed: (_: Dial, socket: Socket) => settle({ socket }),
        dialFailed: (_: Dial, phase: Phase, failure: Failure) => settle({ phase, failure }),
        crashed,
      }
      const timeouts = { connect: timeout, handshake: timeout } as Timeouts
      const dial = new Dial(dialer, timeouts, clock)
      const expire = () => {
        if (clock.monotonic() >= dial.deadline) dial.expire()
      }
      timer = setInterval(guarded(expire, crashed), 100)
      dial.start()
    })
  }
}

function respond(
  socket: Socket,
  provider: Provider,
  {
    path,
    key,
    maxBody,
    signal,
    crashed,
  }: Get & { readonly signal: AbortSignal; readonly crashed: (bug: unknown) => void },
): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>()
  const { base, defaultFields } = provider
  const fail = (failure: Failure) => resolve({ phase: 'wait', failure })
  const outgoing: ClientRequest = request({
    createConnection: () => socket,
    path,
    headers: {
      host: base.host,
      'user-agent': 'gatehouse-check',
      accept: 'application/json',
      ...Object.fromEntries(defaultFields),
      ...fieldsOf(provider, key, path),
    },
    signal,
  })
  const responded = (response: IncomingMessage) => {
    const status = response.statusCode!
    const pieces: Buffer[] = []
    let size = 0
    response.on('error', () => {})
    const end = (body: Buffer | null) => {
      resolve({ status, body })
      response.destroy()
    }
    if (maxBody === 0) return end(null)
    const take = (piece: Buffer) => {
      pieces.push(piece)
      size += piece.length
      if (size > maxBody) end(null)
    }
    response.on('data', guarded(take, crashed))
    response.on(
      'end',
      guarded(() => end(Buffer.concat(pieces)), crashed),
    )
  }
  const failed = (error: Error) => fail(signal.aborted ? fault('GH_RESPONSE_TIMEOUT') : failureOf(error))
  const closed = () => fail(fault('GH_CLOSED'))
  outgoing.on('response', guarded(responded, crashed))
  outgoing.on('error', guarded(failed, crashed))
  outgoing.on('close', guarded(closed, crashed))
  outgoing.end()
  return promise
}

function fieldsOf(provider: Provider, key: Credential, path: string): Record<string, string> {
  if (key === null) return {}
  const { keyField, keyPrefix, base, resource } = provider
  const { value, sign } = typeof key === 'string' ? { value: key, sign: null } : key
  if (sign === null) return { [keyField]: keyPrefix + value }
  const lines = sign({ method: 'GET', host: base.host, path, region: resource!, body: null })
  return Object.fromEntries(
    lines
      .trimEnd()
      .split('\r\n')
      .map(line => line.split(': ', 2)),
  )
}
