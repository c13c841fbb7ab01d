// Sends a message to a URL that somebody with access to a gateway has chosen: signed as Standard Webhooks
// does (https://www.standardwebhooks.com), by a client that keeps it from internal addresses.

import { createHmac } from 'node:crypto'
import { GuardedClient, type GuardedClientOptions } from './guarded-client.ts'

export interface WebhookMessage {
  /** The same at each attempt, so that receivers can tell repetitions. */
  readonly id: string
  readonly body: string
}

interface WebhookResponse {
  readonly status: number
  /** Null if it is longer than what is read. */
  readonly text: string | null
}

export class WebhookClient {
  readonly #client: GuardedClient

  constructor(options: GuardedClientOptions = {}) {
    this.#client = new GuardedClient(options)
  }

  /** `now` is in ms. Rejects with a `RequestFailure`. */
  async post(
    url: string,
    { id, body }: WebhookMessage,
    secrets: readonly string[],
    { now, signal }: { readonly now: number; readonly signal: AbortSignal },
  ): Promise<WebhookResponse> {
    const timestamp = Math.floor(now / 1000)
    const headers = {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': `${timestamp}`,
      'webhook-signature': secrets.map(secret => `v1,${sign(secret, id, timestamp, body)}`).join(' '),
    }
    const response = await this.#client.request(url, { method: 'POST', headers, body }, signal)
    return { status: response.status, text: response.body?.toString() ?? null }
  }

  async close(): Promise<void> {
    await this.#client.close()
  }
}

/** The secret is `whsec_` and base64. */
function sign(secret: string, id: string, timestamp: number, body: string): string {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  return createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
}
