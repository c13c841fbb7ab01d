// Delivers the messages of budget alerts, each within a time.

import type { GuardedClientOptions, RequestFailure } from '../../net/http/guarded-client.ts'
import { WebhookClient, type WebhookMessage } from '../../net/http/webhook-client.ts'

export class WebhookSender {
  readonly #timeout: number
  readonly #client: WebhookClient

  /** `timeout` is in ms, for all of an attempt. */
  constructor({
    timeout = 10_000,
    ...options
  }: Pick<GuardedClientOptions, 'isAllowed' | 'ca' | 'timeout'> = {}) {
    this.#timeout = timeout
    this.#client = new WebhookClient({ ...options, timeout })
  }

  /** `now` is in ms. Returns why it failed, without anything that the receiver said; null if it accepted. */
  async send(
    url: string,
    message: WebhookMessage,
    secrets: readonly string[],
    now: number,
  ): Promise<string | null> {
    try {
      const signal = AbortSignal.timeout(this.#timeout)
      const { status } = await this.#client.post(url, message, secrets, { now, signal })
      return status >= 200 && status < 300 ? null : `status ${status}`
    } catch (failure) {
      return (failure as RequestFailure).message
    }
  }

  async close(): Promise<void> {
    await this.#client.close()
  }
}
