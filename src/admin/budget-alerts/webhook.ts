// Sends a message to a URL that somebody with access to a gateway has chosen: signed as Standard Webhooks
// does (https://www.standardwebhooks.com), only to public addresses, and without following redirects.

import { isIP } from 'node:net'
import { createHmac } from 'node:crypto'
import type { Agent } from 'undici'
import { lookupOnly } from '../../net/address/checked-lookup.ts'
import { isPublic } from '../../net/address/public-address.ts'

interface Message {
  /** The same at each attempt, so that receivers can tell repetitions. */
  readonly id: string
  readonly body: string
}

interface WebhookOptions {
  /** Whether an address may be dialled: by default, if it is public. */
  readonly isAllowed?: (address: string) => boolean
  /** PEM of an authority that is trusted instead of those of Node. */
  readonly ca?: string
  /** Ms for all of an attempt. */
  readonly timeout?: number
}

/** Bytes of a response that are read; nothing of it is kept. */
const maxResponse = 64 * 1024

export class WebhookSender {
  readonly #timeout: number
  readonly #isAllowed: (address: string) => boolean
  readonly #ca: string | undefined
  #agent: Agent | null = null

  constructor({ isAllowed = isPublic, ca, timeout = 10_000 }: WebhookOptions = {}) {
    this.#isAllowed = isAllowed
    this.#timeout = timeout
    this.#ca = ca
  }

  /** `now` is in ms. Returns why it failed, without anything that the receiver said; null if it accepted. */
  async send(
    url: string,
    { id, body }: Message,
    secrets: readonly string[],
    now: number,
  ): Promise<string | null> {
    const { hostname } = new URL(url)
    const address = hostname.replace(/^\[|\]$/g, '')
    // Literals are not looked up.
    if (isIP(address) !== 0 && !this.#isAllowed(address)) return notPublic
    const timestamp = Math.floor(now / 1000)
    // It takes 4 MiB, and few gateways have alerts.
    const undici = await import('undici')
    this.#agent ??= this.#agentOf(undici)
    try {
      const { statusCode, body: response } = await undici.request(url, {
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
        signal: AbortSignal.timeout(this.#timeout),
      })
      await response.dump({ limit: maxResponse })
      return statusCode >= 200 && statusCode < 300 ? null : `status ${statusCode}`
    } catch (failure) {
      return reasonOf(failure as NodeJS.ErrnoException)
    }
  }

  async close(): Promise<void> {
    await this.#agent?.destroy()
  }

  #agentOf(undici: Pick<typeof import('undici'), 'Agent'>): Agent {
    const ca = this.#ca
    const timeout = this.#timeout
    const connect = { timeout, lookup: lookupOnly(this.#isAllowed), ...(ca !== undefined && { ca }) }
    return new undici.Agent({
      ...{ connect, headersTimeout: timeout, bodyTimeout: timeout },
      ...{ connections: 4, keepAliveTimeout: 1_000, allowH2: false },
    })
  }
}

const notPublic = 'its address is not on the public Internet'

function reasonOf({ name, code = '', message }: NodeJS.ErrnoException): string {
  if (code === 'PROHIBITED') return notPublic
  if (name === 'TimeoutError' || /TIMEOUT/.test(code)) return 'no response in time'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its host name cannot be resolved'
  return code === '' ? message.slice(0, 100) : code
}

/** The secret is `whsec_` and base64. */
function sign(secret: string, id: string, timestamp: number, body: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
}
