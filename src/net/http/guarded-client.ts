// Requests to URLs that others have chosen: only to allowed addresses, without following redirects, and read
// up to a bound.

import { isIP } from 'node:net'
import type { IncomingHttpHeaders } from 'node:http'
import type { Agent } from 'undici'
import { lookupOnly } from '../address/checked-lookup.ts'
import { isPublic } from '../address/public-address.ts'

export interface GuardedClientOptions {
  /** Whether an address may be dialled: by default, if it is public. */
  readonly isAllowed?: (address: string) => boolean
  /** PEM of an authority that is trusted instead of those of Node. */
  readonly ca?: string
  /** Ms for connecting, and for each wait of a response. */
  readonly timeout?: number
  /** To one receiver. */
  readonly connections?: number
  /** Ms for which an unused connection is kept. */
  readonly keepAlive?: number
  /** Bytes of a response that are read. */
  readonly maxResponse?: number
}

interface GuardedRequest {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

export interface GuardedResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** As sent, without decoding; null if it is longer than what is read. */
  readonly body: Buffer | null
}

/** Why there is no response, without anything that the receiver said. */
export class RequestFailure extends Error {
  readonly kind: 'prohibited' | 'timeout' | 'cut' | 'unreachable'

  constructor(kind: RequestFailure['kind'], reason: string) {
    super(reason)
    this.kind = kind
  }
}

export class GuardedClient {
  readonly #options: Required<Omit<GuardedClientOptions, 'ca'>> & Pick<GuardedClientOptions, 'ca'>
  #agent: Agent | null = null

  constructor(options: GuardedClientOptions = {}) {
    const usual = { isAllowed: isPublic, timeout: 10_000, connections: 4, keepAlive: 1_000 }
    this.#options = { ...usual, maxResponse: 64 * 1024, ...options }
  }

  /** Rejects with a `RequestFailure`. */
  async request(
    url: string,
    { method, headers, body }: GuardedRequest,
    signal: AbortSignal,
  ): Promise<GuardedResponse> {
    const { hostname } = new URL(url)
    const address = hostname.replace(/^\[|\]$/g, '')
    // Literals are not looked up.
    if (isIP(address) !== 0 && !this.#options.isAllowed(address)) throw notPublic()
    // It takes 4 MiB, and few gateways need it.
    const undici = await import('undici')
    this.#agent ??= this.#agentOf(undici)
    try {
      const response = await undici.request(url, {
        method,
        headers: { ...headers, 'user-agent': 'gatehouse' },
        ...(body !== undefined && { body }),
        dispatcher: this.#agent,
        signal,
      })
      const { statusCode: status, headers: fields } = response
      return { status, headers: fields, body: await this.#read(response.body) }
    } catch (failure) {
      throw failureOf(failure as NodeJS.ErrnoException)
    }
  }

  async close(): Promise<void> {
    await this.#agent?.destroy()
  }

  async #read(response: AsyncIterable<Buffer>): Promise<Buffer | null> {
    const pieces: Buffer[] = []
    let size = 0
    for await (const piece of response) {
      size += piece.length
      // Leaving the loop gives the connection up.
      if (size > this.#options.maxResponse) return null
      pieces.push(piece)
    }
    return Buffer.concat(pieces)
  }

  #agentOf(undici: Pick<typeof import('undici'), 'Agent'>): Agent {
    const { ca, timeout, connections, keepAlive, isAllowed } = this.#options
    const connect = { timeout, lookup: lookupOnly(isAllowed), ...(ca !== undefined && { ca }) }
    return new undici.Agent({
      ...{ connect, headersTimeout: timeout, bodyTimeout: timeout },
      ...{ connections, keepAliveTimeout: keepAlive, allowH2: false },
    })
  }
}

function notPublic(): RequestFailure {
  return new RequestFailure('prohibited', 'its address is not on the public Internet')
}

function failureOf({ name, code = '', message }: NodeJS.ErrnoException): RequestFailure {
  if (code === 'PROHIBITED') return notPublic()
  if (name === 'TimeoutError' || /TIMEOUT/.test(code))
    return new RequestFailure('timeout', 'no response in time')
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new RequestFailure('unreachable', 'its host name cannot be resolved')
  const kind = code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE' ? 'cut' : 'unreachable'
  return new RequestFailure(kind, code === '' ? message.slice(0, 100) : code)
}
