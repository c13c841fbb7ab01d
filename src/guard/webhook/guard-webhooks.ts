// Asks the webhooks of gateways about what is in calls. Without a verdict there is none to pass.

import type { Clock } from '../../base/clock.ts'
import { newId } from '../../base/ids/id.ts'
import type { SecretKeys } from '../../base/secrets/secret-keys.ts'
import { KiB, MiB } from '../../base/units.ts'
import type { LogThrottle } from '../../log/log-throttle.ts'
import type { AiMetrics } from '../../metrics/counters/ai-metrics.ts'
import { type GuardedClientOptions, RequestFailure } from '../../net/http/guarded-client.ts'
import { WebhookClient } from '../../net/http/webhook-client.ts'
import type { Gateway, GuardCheck, GuardWebhook } from '../../store/records/records.ts'
import { unsealWebhookSecret } from './secret.ts'
import { readVerdict, type Verdict } from './verdict.ts'

/** Questions under way in this process, and those of one account. */
const limits = { all: 256, account: 64, bytes: 64 * MiB }
/** Bytes of a question, far more than people read; a verdict that replaces texts has them as well. */
export const maxQuestion = MiB
/** Questions about responses that wait for their turn; those about requests do not. */
const waitingLimits = { all: 1_000, account: 250, bytes: 64 * MiB }
const maxResponse = 2 * MiB + 64 * KiB

export interface Question {
  readonly gateway: Pick<Gateway, 'account' | 'id'>
  readonly webhook: GuardWebhook
  readonly check: GuardCheck
  readonly ray: string
  readonly model: string | null
  readonly texts: readonly string[]
  /** Of a stream: for each text, how many UTF-16 units of it cannot change any more. */
  readonly before?: readonly number[] | undefined
}

/** Why there is no verdict; `left` if nobody waits for it any more. */
export type NoVerdict = 'too_large' | 'busy' | 'timeout' | 'unreachable' | 'invalid' | 'no_secret' | 'left'

interface GuardWebhooksParts extends Pick<GuardedClientOptions, 'isAllowed' | 'ca'> {
  readonly secrets: () => SecretKeys | null
  readonly clock: Clock
  readonly metrics: Pick<AiMetrics, 'guardQuestions' | 'guardWaits'>
  readonly warnings: Pick<LogThrottle, 'warn'>
}

export class GuardWebhooks {
  readonly #parts: GuardWebhooksParts
  readonly #client: WebhookClient
  readonly #counts = new Map<string, number>()
  #underWay = 0
  #bytes = 0
  readonly #waiting = new Set<WaitingQuestion>()

  constructor(parts: GuardWebhooksParts) {
    this.#parts = parts
    const { isAllowed, ca } = parts
    this.#client = new WebhookClient({
      ...(isAllowed && { isAllowed }),
      ...(ca !== undefined && { ca }),
      ...{ connections: limits.account, keepAlive: 10_000, maxResponse, timeout: 60_000 },
    })
  }

  /** Never rejects. `signal` is aborted once nobody waits for the verdict. */
  async ask(question: Question, signal: AbortSignal): Promise<Verdict | NoVerdict> {
    const { metrics, clock, warnings } = this.#parts
    const began = clock.monotonic()
    const { outcome, reason } = await this.#ask(question, signal)
    const kind = typeof outcome === 'string' ? outcome : outcome.kind
    metrics.guardQuestions[kind].inc()
    metrics.guardWaits.observe(clock.monotonic() - began)
    if (reason !== '') {
      const { account, id } = question.gateway
      warnings.warn(`${account} ${id}`, { account, gateway: id, reason }, 'webhook of a guard failed')
    }
    return outcome
  }

  async close(): Promise<void> {
    await this.#client.close()
  }

  async #ask(question: Question, signal: AbortSignal): Promise<Outcome> {
    const { account } = question.gateway
    const body = bodyOf(question)
    const size = Buffer.byteLength(body)
    if (size > maxQuestion) return { outcome: 'too_large', reason: '' }
    const inTime = AbortSignal.any([signal, AbortSignal.timeout(question.webhook.timeout)])
    const isAdmitted =
      this.#admit(account, size) ||
      // A response has cost something already.
      (question.check === 'response' && (await this.#wait(account, size, inTime)))
    if (!isAdmitted) {
      if (signal.aborted) return { outcome: 'left', reason: '' }
      return { outcome: 'busy', reason: 'too many questions under way' }
    }
    try {
      return await this.#send(question, body, { left: signal, signal: inTime })
    } finally {
      this.#underWay--
      this.#bytes -= size
      const others = this.#counts.get(account)! - 1
      if (others === 0) this.#counts.delete(account)
      else this.#counts.set(account, others)
      // In the order in which they came, but for those whose account has its share.
      for (const { account, size, admitted } of this.#waiting) if (this.#admit(account, size)) admitted()
    }
  }

  #admit(account: string, size: number): boolean {
    const count = this.#counts.get(account) ?? 0
    if (count >= limits.account || this.#underWay >= limits.all || this.#bytes + size > limits.bytes)
      return false
    this.#counts.set(account, count + 1)
    this.#underWay++
    this.#bytes += size
    return true
  }

  /** False if its turn does not come in time. */
  #wait(account: string, size: number, signal: AbortSignal): Promise<boolean> {
    if (signal.aborted || !this.#mayWait(account, size)) return Promise.resolve(false)
    return new Promise(resolve => {
      const over = (isAdmitted: boolean) => {
        signal.removeEventListener('abort', onAbort)
        this.#waiting.delete(waiting)
        resolve(isAdmitted)
      }
      const onAbort = () => over(false)
      const waiting = { account, size, admitted: () => over(true) }
      signal.addEventListener('abort', onAbort)
      this.#waiting.add(waiting)
    })
  }

  #mayWait(account: string, size: number): boolean {
    let [count, bytes] = [0, size]
    for (const other of this.#waiting) {
      bytes += other.size
      if (other.account === account) count++
    }
    const { all, account: share, bytes: most } = waitingLimits
    return this.#waiting.size < all && count < share && bytes <= most
  }

  async #send(
    { gateway, webhook, texts }: Question,
    body: string,
    { left, signal }: { readonly left: AbortSignal; readonly signal: AbortSignal },
  ): Promise<Outcome> {
    const keys = this.#parts.secrets()
    const secret = keys === null ? null : unsealWebhookSecret(keys, webhook.sealed, gateway)
    if (secret === null) return { outcome: 'no_secret', reason: 'its secret cannot be unsealed' }
    try {
      const { status, text } = await this.#post(webhook.url, { id: `msg_${newId()}`, body }, secret, signal)
      if (status !== 200) return { outcome: 'invalid', reason: `status ${status}` }
      const verdict = text === null ? null : readVerdict(text, texts)
      return verdict === null
        ? { outcome: 'invalid', reason: 'no valid verdict' }
        : { outcome: verdict, reason: '' }
    } catch (failure) {
      if (left.aborted) return { outcome: 'left', reason: '' }
      if (!(failure instanceof RequestFailure)) throw failure
      return { outcome: failure.kind === 'timeout' ? 'timeout' : 'unreachable', reason: failure.message }
    }
  }

  /** Once more if the connection broke: a receiver may close one just as it is used again. */
  async #post(url: string, message: { id: string; body: string }, secret: string, signal: AbortSignal) {
    const options = { now: this.#parts.clock.now(), signal }
    try {
      return await this.#client.post(url, message, [secret], options)
    } catch (failure) {
      if (!(failure instanceof RequestFailure) || failure.kind !== 'cut' || signal.aborted) throw failure
      return this.#client.post(url, message, [secret], options)
    }
  }
}

/** A question that waits for others to be over. */
interface WaitingQuestion {
  readonly account: string
  readonly size: number
  readonly admitted: () => void
}

interface Outcome {
  readonly outcome: Verdict | NoVerdict
  /** For the log; empty if there is nothing to say. */
  readonly reason: string
}

function bodyOf({ gateway, check, ray, model, texts, before }: Question): string {
  const { account, id } = gateway
  return JSON.stringify({
    type: 'guard.check',
    check,
    account_id: account,
    gateway_id: id,
    ray,
    model,
    texts,
    before,
  })
}
