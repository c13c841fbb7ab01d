// Calls the management API for commands. Refusals are thrown, since they end a command.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiFaultName, apiFaults } from '../../../errors/catalogue/api-faults.ts'
import { exchange, maxResponse, type Message, type Reply, tooLong } from './exchange.ts'

export interface ApiAccess {
  readonly url: string
  readonly account: string
  readonly token: string
}

interface ApiRequest {
  readonly body?: unknown
  /** An ETag: the request applies only to this state of the resource. */
  readonly ifMatch?: string | null
  /** Whether to send an Idempotency-Key, so that the request can be repeated. */
  readonly once?: boolean
  readonly signal?: AbortSignal
}

interface ApiAnswer<Result> {
  readonly result: Result
  readonly cursor: string | null
  readonly etag: string | null
}

export interface ApiMistake {
  readonly code: number
  readonly message: string
  readonly pointer: string | null
}

/** The API understood the request and refused it. */
export class ApiRefusal extends Error {
  readonly status: number
  readonly mistakes: readonly ApiMistake[]

  constructor(status: number, mistakes: readonly ApiMistake[]) {
    super(`the API responded with ${status}`)
    this.status = status
    this.mistakes = mistakes
  }

  isFor(name: ApiFaultName): boolean {
    return this.mistakes[0]?.code === apiFaults[name].code
  }
}

/** The API is unreachable, or its response incomplete; the message is a sentence for the operator. */
export class ApiUnreachable extends Error {}

/** The gateway may be restarting, or its store unreachable for now. */
export function isPassing(cause: unknown): boolean {
  return (
    cause instanceof ApiUnreachable ||
    (cause instanceof ApiRefusal && (cause.status >= 500 || cause.status === 429))
  )
}

/** In ms. */
const timeout = 30_000
const perPage = 100
/** For a request with an Idempotency-Key, while the store is unreachable. */
const maxTries = 4

export class ApiClient {
  readonly #access: ApiAccess
  readonly #root: string

  /** Sends requests below a path, by default that of the account. */
  constructor(access: ApiAccess, root = `/client/v4/accounts/${access.account}`) {
    this.#access = access
    this.#root = root
  }

  get account(): string {
    return this.#access.account
  }

  get outside(): ApiClient {
    return new ApiClient(this.#access, '/client/v4')
  }

  /** Throws `ApiRefusal` or `ApiUnreachable`; retries what can be repeated when the connection breaks. */
  async ask<Result>(method: string, path: string, request: ApiRequest = {}): Promise<ApiAnswer<Result>> {
    const attempts: Attempts = {
      url: `${this.#access.url}${this.#root}${path}`,
      message: messageOf(method, this.#access.token, request),
      end: request.signal,
      mayBeDone: false,
    }
    const isRepeatable = method === 'GET' || request.once === true
    // A change that was made but not confirmed returns its response only for the same key.
    for (let tries = 1; ; tries++) {
      const reply = await this.#send(attempts, isRepeatable)
      const isRetried = reply.status === 503 && request.once === true && tries < maxTries
      if (!isRetried) return this.#read(reply, attempts)
      attempts.mayBeDone ||= !saysUnchanged(reply)
      await sleep(1000 * Math.min(Number(reply.headers['retry-after']) || 1, 10))
    }
  }

  async all<Item>(path: string, filters: Readonly<Record<string, string>> = {}): Promise<readonly Item[]> {
    const items: Item[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const query = new URLSearchParams({ ...filters, per_page: String(perPage), ...(cursor && { cursor }) })
      const answer: ApiAnswer<readonly Item[]> = await this.ask('GET', `${path}?${query}`)
      items.push(...answer.result)
      cursor = answer.cursor
    }
    return items
  }

  async #send(attempts: Attempts, isRepeatable: boolean): Promise<Reply> {
    const { url, message, end } = attempts
    const late = AbortSignal.timeout(timeout)
    try {
      return await exchange(url, message, end ? AbortSignal.any([late, end]) : late)
    } catch (cause) {
      attempts.mayBeDone ||= mayHaveArrived(cause)
      if (isRepeatable && !isTimeout(cause) && codeOf(cause) !== tooLong) return this.#send(attempts, false)
      const isDoubtful = message.method !== 'GET' && attempts.mayBeDone
      throw new ApiUnreachable(`${this.#access.url} ${reasonOf(cause)}${isDoubtful ? unknownOutcome : ''}`)
    }
  }

  #read<Result>(reply: Reply, { message, mayBeDone }: Attempts): ApiAnswer<Result> {
    const { status, headers, text } = reply
    // A refusal speaks of the last attempt alone; one that the store did not confirm has the doubt itself.
    const isCertain = status !== 503 || saysUnchanged(reply)
    const doubt = mayBeDone && isCertain && message.method !== 'GET' ? unknownOutcome : ''
    const envelope = envelopeIn(text)
    if (!envelope)
      throw new ApiUnreachable(
        `${this.#access.url} responds with ${status}, but not as the management API; is it the address of the admin listener?${doubt}`,
      )
    const { success, errors, result, result_info } = envelope
    if (!success) throw new ApiRefusal(status, mistakesIn(errors, status, doubt))
    const { cursor } = (result_info ?? {}) as { readonly cursor?: unknown }
    const { etag = null } = headers
    return { result: result as Result, cursor: typeof cursor === 'string' ? cursor : null, etag }
  }
}

/** Of one request. */
interface Attempts {
  readonly url: string
  readonly message: Message
  readonly end: AbortSignal | undefined
  /** Whether one of those so far may have made the change. */
  mayBeDone: boolean
}

const unknownOutcome = '; the change may or may not have been made'

/** A busy store has changed nothing; the code is that of other reasons, too. */
function saysUnchanged({ text }: Reply): boolean {
  return text.includes(apiFaults.store_busy.sentence)
}

/** Redirects are not followed: the token is sent only to the given address. */
function messageOf(method: string, token: string, { body, ifMatch, once }: ApiRequest): Message {
  const headers: Record<string, string> = { accept: 'application/json', authorization: `Bearer ${token}` }
  if (ifMatch) headers['if-match'] = ifMatch
  if (once) headers['idempotency-key'] = randomUUID()
  if (body === undefined) return { method, headers }
  headers['content-type'] = 'application/json'
  return { method, headers, body: JSON.stringify(body) }
}

function isTimeout(cause: unknown): boolean {
  return (cause as Error).name === 'TimeoutError'
}

function mayHaveArrived(cause: unknown): boolean {
  const code = codeOf(cause)
  // Node's parser refuses responses with codes that begin so.
  return isTimeout(cause) || code.startsWith('HPE_') || ['ECONNRESET', 'EPIPE', tooLong].includes(code)
}

function codeOf(thrown: unknown): string {
  return String((thrown as NodeJS.ErrnoException).code ?? 'unknown reason')
}

/** Describes the reason in our own words: errors of Node may quote their input. */
function reasonOf(cause: unknown): string {
  if (isTimeout(cause)) return `timed out after ${timeout / 1000} s`
  const code = codeOf(cause)
  return reasons[code] ?? `is unreachable (${code})`
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections; is the gateway running?',
  ECONNRESET: 'closed the connection',
  EPIPE: 'closed the connection',
  ENOTFOUND: 'has a name that does not exist',
  [tooLong]: `responds with more than ${maxResponse} MiB`,
}

type Envelope = Readonly<Record<'success' | 'errors' | 'result' | 'result_info', unknown>>

function envelopeIn(text: string): Envelope | null {
  try {
    const value: unknown = JSON.parse(text)
    const isEnvelope = typeof (value as Envelope | null)?.success === 'boolean'
    // On the listener of AI calls, refusals have an `error` too.
    return isEnvelope && !Object.hasOwn(value as Envelope, 'error') ? (value as Envelope) : null
  } catch {
    return null
  }
}

function mistakesIn(errors: unknown, status: number, doubt: string): readonly ApiMistake[] {
  const list = (Array.isArray(errors) ? errors : []) as readonly (RawMistake | null)[]
  if (list.length === 0) return [{ code: status, message: `no reason given${doubt}`, pointer: null }]
  return list.map(error => {
    const pointer = error?.source?.pointer
    return {
      code: Number(error?.code),
      message: doubtful(String(error?.message), doubt),
      pointer: typeof pointer === 'string' ? pointer : null,
    }
  })
}

/** Makes `nothing was changed` of a busy store a statement about its own attempt. */
function doubtful(message: string, doubt: string): string {
  const { sentence } = apiFaults.store_busy
  return doubt !== '' && message === sentence
    ? `The store is busy: retry later${doubt}`
    : `${message}${doubt}`
}

interface RawMistake {
  readonly code?: unknown
  readonly message?: unknown
  readonly source?: { readonly pointer?: unknown }
}
