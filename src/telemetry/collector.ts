// Sends messages to a collector (OTLP/HTTP), one at a time. Nothing waits for it: failed ones are dropped.

import type { Agent, IncomingMessage } from 'node:http'
import { Agent as SecureAgent, request as requestSecurely } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent as PlainAgent, request as requestPlainly, whenFailed } from '../net/http/node-http.ts'
import type { Clock } from '../base/clock.ts'
import type { OtlpConfig } from '../config/model/telemetry-config.ts'
import type { Logger } from '../log/log.ts'

type Signal = 'traces' | 'metrics'

interface CollectorParts {
  readonly config: Pick<OtlpConfig, 'url' | 'headers' | 'ca' | 'timeout'>
  readonly version: string
  readonly clock: Clock
  readonly log: Logger
  /** In ms; doubles with each further attempt. */
  readonly firstPause?: number
}

export class Collector {
  readonly #parts: CollectorParts
  readonly #agent: Agent
  readonly #end = new AbortController()
  /** By signal, until when (monotonic ms) its failures are only counted, and their count. */
  readonly #quiet = new Map<Signal, { until: number; failures: number }>()

  constructor(parts: CollectorParts) {
    this.#parts = parts
    const { ca, url } = parts.config
    const options = { keepAlive: true, maxSockets: 2 }
    const trusted = ca === null ? {} : { ca: [ca] }
    this.#agent = url.startsWith('https:')
      ? new SecureAgent({ ...options, ...trusted })
      : new PlainAgent(options)
  }

  /** Resolves with how many items the collector did not take, `Infinity` for all. Never rejects. */
  async send(signal: Signal, message: string): Promise<number> {
    let lost = 0
    let why: string | null = null
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      const { outcome, pause, rejected } = await this.#post(signal, message)
      lost = rejected
      why = outcome
      if (pause === null || attempt === mostAttempts - 1 || !(await this.#wait(pause, attempt))) break
    }
    if (why !== null && !this.#end.signal.aborted) this.#noteFailure(signal, why)
    return lost
  }

  close(): void {
    this.#end.abort()
    this.#agent.destroy()
  }

  /** `outcome` is null for success; `pause` if another attempt is of no use, 0 if no delay is named. */
  async #post(
    signal: Signal,
    message: string,
  ): Promise<{ readonly outcome: string | null; readonly rejected: number; readonly pause: number | null }> {
    const { config, version } = this.#parts
    const timeout = AbortSignal.timeout(config.timeout)
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        const options = {
          method: 'POST',
          agent: this.#agent,
          signal: AbortSignal.any([timeout, this.#end.signal]),
          headers: {
            ...Object.fromEntries(config.headers),
            'Content-Type': 'application/json',
            'User-Agent': `gatehouse/${version}`,
          },
        }
        const send = config.url.startsWith('https:') ? requestSecurely : requestPlainly
        const sent = send(`${config.url}/v1/${signal}`, options, resolve)
        whenFailed(sent, reject)
        sent.end(message)
      })
      // A message that was accepted, or never will be, is not sent again, whatever happens to the body.
      const body = await drained(response).catch(() => '')
      const status = response.statusCode!
      if (status >= 200 && status < 300) {
        const partial = partialSuccessOf(body)
        if (partial === null) return { outcome: null, rejected: 0, pause: null }
        const { rejected, reason } = partial
        return { outcome: `${rejected} rejected: ${reason}`, rejected, pause: null }
      }
      const pause = transient.has(status) ? secondsOf(response.headers['retry-after']) * 1000 : null
      return { outcome: `status ${status}`, rejected: Number.POSITIVE_INFINITY, pause }
    } catch (cause) {
      const { code, message: text } = cause as NodeJS.ErrnoException
      const outcome = timeout.aborted ? 'no response in time' : (code ?? text)
      return { outcome, rejected: Number.POSITIVE_INFINITY, pause: 0 }
    }
  }

  async #wait(pause: number, attempt: number): Promise<boolean> {
    const { firstPause = usualPause } = this.#parts
    const ms = Math.min(Math.max(pause, firstPause * 2 ** attempt), longestPause)
    return sleep(ms, true, { signal: this.#end.signal, ref: false }).catch(() => false)
  }

  #noteFailure(signal: Signal, reason: string): void {
    const { clock, log } = this.#parts
    const now = clock.monotonic()
    const quiet = this.#quiet.get(signal) ?? { until: Number.NEGATIVE_INFINITY, failures: 0 }
    this.#quiet.set(signal, quiet)
    quiet.failures++
    if (now < quiet.until) return
    log.warn({ signal, reason, count: quiet.failures }, 'export to the OpenTelemetry collector failed')
    quiet.until = now + quietTime
    quiet.failures = 0
  }
}

const mostAttempts = 4
const usualPause = 1_000
const longestPause = 30_000
const quietTime = 60_000
/** OTLP specification, retryable response codes. */
const transient: ReadonlySet<number> = new Set([429, 502, 503, 504])
const mostBytes = 64 * 1024

/** Returns how many spans or points were rejected, and why; null if none, or for another kind of body. */
export function partialSuccessOf(
  body: string,
): { readonly rejected: number; readonly reason: string } | null {
  try {
    const { rejectedSpans, rejectedDataPoints, errorMessage } = JSON.parse(body).partialSuccess
    const rejected = Number(rejectedSpans ?? rejectedDataPoints)
    if (!Number.isSafeInteger(rejected) || rejected <= 0) return null
    return { rejected, reason: typeof errorMessage === 'string' ? errorMessage.slice(0, maxReason) : '' }
  } catch {
    return null
  }
}

const maxReason = 256

/** Lets the connection be reused; throws, and gives it up, if the body is too long or truncated. */
async function drained(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of response) {
    length += part.length
    if (length > mostBytes) throw new Error('the response is longer than 64 KiB')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

function secondsOf(retryAfter: string | undefined): number {
  return retryAfter !== undefined && /^\d{1,4}$/.test(retryAfter) ? Number(retryAfter) : 0
}
