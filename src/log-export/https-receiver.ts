// An address that gets each batch by POST, compressed and signed.

import { Agent, type Dispatcher, request } from 'undici'
import type { Clock } from '../base/clock.ts'
import type { HttpsDestination } from '../config/model/log-export-config.ts'
import { parseSecretKey } from '../config/shape/secret-key.ts'
import type { DeliveryFailure, Destination } from './destination.ts'
import type { Batch } from './outbox.ts'
import { signatureFields } from './signature.ts'

/** Bytes of a response that are read, and characters of it in a message. */
const maxResponse = 64 * 1024
const maxExcerpt = 200

/** Statuses below 500 after which a retry may succeed though nobody changed anything. */
const transient: ReadonlySet<number> = new Set([408, 425, 429])

export class HttpsReceiver implements Destination {
  readonly #config: HttpsDestination
  readonly #clock: Pick<Clock, 'now'>
  readonly #secrets: readonly Buffer[]
  readonly #agent: Agent
  /** What messages must not show. */
  readonly #hidden: readonly string[]

  constructor(config: HttpsDestination, clock: Pick<Clock, 'now'>) {
    const { url, headers, secrets, ca, timeout } = config
    this.#config = config
    this.#clock = clock
    this.#hidden = hiddenIn(url, headers)
    this.#secrets = secrets.flatMap(secret => parseSecretKey(secret) ?? [])
    const connect = { timeout, rejectUnauthorized: true, ...(ca !== null && { ca }) }
    this.#agent = new Agent({ connect, connections: 1, allowH2: false })
  }

  async deliver({ id, content: body }: Batch): Promise<DeliveryFailure | null> {
    const { url, headers, timeout } = this.#config
    const timestamp = Math.floor(this.#clock.now() / 1000)
    try {
      // Redirects are not followed.
      const response = await request(url.replaceAll('{batch_id}', id), {
        method: 'POST',
        headers: {
          ...Object.fromEntries(headers),
          'content-type': 'application/x-ndjson',
          'content-encoding': 'gzip',
          ...signatureFields({ id, timestamp, body }, this.#secrets),
        },
        body,
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(timeout),
      })
      return await this.#failureOf(response)
    } catch (failure) {
      const { name, code, message } = failure as NodeJS.ErrnoException
      const isLate = name === 'TimeoutError' || /TIMEOUT/.test(code ?? '')
      if (isLate) return { ...passing, kind: 'timeout', message: `no response within ${timeout} ms` }
      return { ...passing, kind: 'unreachable', message: message || (code ?? 'connection failed') }
    }
  }

  tick(): void {}

  close(): void {
    void this.#agent.destroy()
  }

  async #failureOf({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<DeliveryFailure | null> {
    // Read in any case, so that the connection can be used again.
    const text = this.#hide(await excerptOf(body)).slice(0, maxExcerpt)
    if (statusCode >= 200 && statusCode < 300) return null
    const message = `status ${statusCode}${text === '' ? '' : `: ${text}`}`
    const isPermanent = statusCode < 500 && !transient.has(statusCode)
    return { kind: 'rejected', message, isPermanent, retryAfter: this.#msOf(headers['retry-after']) }
  }

  #hide(text: string): string {
    return this.#hidden.reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
  }

  /** Reads a number of seconds or a date (RFC 9110 section 10.2.3); 0 for anything else. */
  #msOf(retryAfter: string | readonly string[] | undefined): number {
    if (typeof retryAfter !== 'string') return 0
    if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter) * 1000
    const date = Date.parse(retryAfter)
    return Number.isNaN(date) ? 0 : Math.max(0, date - this.#clock.now())
  }
}

const passing = { isPermanent: false, retryAfter: 0 } as const

/** Throws, and gives the connection up, if the body is too long or cut off. */
async function excerptOf(body: Dispatcher.ResponseData['body']): Promise<string> {
  let text = ''
  let size = 0
  for await (const piece of body as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > maxResponse) throw new Error('the response is longer than 64 KiB')
    text += piece.toString('latin1')
  }
  return Buffer.from(text, 'latin1').toString().replaceAll(/\s+/g, ' ').trim()
}

/** Receivers repeat what they refuse: credentials are in the query and in headers, behind a scheme there. */
function hiddenIn(url: string, headers: HttpsDestination['headers']): readonly string[] {
  const { search, searchParams } = new URL(url)
  const values = headers.flatMap(([, value]) => [value, ...value.split(' ')])
  return [search, ...search.split(/[?&=]/), ...searchParams.values(), ...values]
    .filter(({ length }) => length >= minHidden)
    .sort(longestFirst)
}

/** Shorter ones are none of a credential, and hiding them would spoil messages. */
const minHidden = 6

function longestFirst(a: string, b: string): number {
  return b.length - a.length
}
