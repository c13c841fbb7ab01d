// Sends a message to a URL that somebody with access to a gateway has chosen: signed as Standard Webhooks
// does (https://www.standardwebhooks.com), only to allowed addresses, and without following redirects.

import { isIP } from 'node:net'
import { createHmac } from 'node:crypto'
import type { Agent } from 'undici'
import { lookupOnly } from '../address/checked-lookup.ts'
import { isPublic } from '../address/public-address.ts'

export interface WebhookMessage {
  /** The same at each attempt, so that receivers can tell repetitions. */
  readonly id: string
  readonly body: string
}

export interface WebhookClientOptions {
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

interface WebhookResponse {
  readonly status: number
  /** Null if it is longer than what is read. */
  readonly text: string | null
}

/** Why there is no response, without anything that the receiver said. */
export class WebhookFailure extends Error {
  readonly kind: 'prohibited' | 'timeout' | 'cut' | 'unreachable'

  constructor(kind: WebhookFailure['kind'], reason: string) {
    super(reason)
    this.kind = kind
  }
}

export class WebhookClient {
  readonly #options: Required<Omit<WebhookClientOptions, 'ca'>> & Pick<WebhookClientOptions, 'ca'>
  #agent: Agent | null = null

  constructor(options: WebhookClientOptions = {}) {
    const usual = { isAllowed: isPublic, timeout: 10_000, connections: 4, keepAlive: 1_000 }
    this.#options = { ...usual, maxResponse: 64 * 1024, ...options }
  }

  /** `now` is in ms. Rejects with a `WebhookFailure`. */
  async post(
    url: string,
    { id, body }: WebhookMessage,
    secrets: readonly string[],
    { now, signal }: { readonly now: number; readonly signal: AbortSignal },
  ): Promise<WebhookResponse> {
    const { hostname } = new URL(url)
    const address = hostname.replace(/^\[|\]$/g, '')
    // Literals are not looked up.
    if (isIP(address) !== 0 && !this.#options.isAllowed(address)) throw notPublic()
    const timestamp = Math.floor(now / 1000)
    // It takes 4 MiB, and few gateways have webhooks.
    const undici = await import('undici')
    this.#agent ??= this.#agentOf(undici)
    try {
      const { statusCode: status, body: response } = await undici.request(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'gatehouse',
          'webhook-id': id,
          'webhook-timestamp': `${timestamp}`,
          'webhook-signature': secrets.map(secret => `v1,${sign(secret, id, timestamp, body)}`).join(' '),
        },
        body,
        dispatcher: this.#agent,
        signal,
      })
      return { status, text: await this.#read(response) }
    } catch (failure) {
      throw failureOf(failure as NodeJS.ErrnoException)
    }
  }

  async close(): Promise<void> {
    await this.#agent?.destroy()
  }

  async #read(response: AsyncIterable<Buffer>): Promise<string | null> {
    const pieces: Buffer[] = []
    let size = 0
    for await (const piece of response) {
      size += piece.length
      // Leaving the loop gives the connection up.
      if (size > this.#options.maxResponse) return null
      pieces.push(piece)
    }
    return Buffer.concat(pieces).toString()
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

function notPublic(): WebhookFailure {
  return new WebhookFailure('prohibited', 'its address is not on the public Internet')
}

function failureOf({ name, code = '', message }: NodeJS.ErrnoException): WebhookFailure {
  if (code === 'PROHIBITED') return notPublic()
  if (name === 'TimeoutError' || /TIMEOUT/.test(code))
    return new WebhookFailure('timeout', 'no response in time')
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return new WebhookFailure('unreachable', 'its host name cannot be resolved')
  const kind = code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE' ? 'cut' : 'unreachable'
  return new WebhookFailure(kind, code === '' ? message.slice(0, 100) : code)
}

/** The secret is `whsec_` and base64. */
function sign(secret: string, id: string, timestamp: number, body: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
}
