// The responses that this process may reuse: those in its memory, those in the store, and those on their way.

import { LRUCache } from 'lru-cache'
import type { Clock } from '../base/clock.ts'
import type { SecretKeys } from '../base/secrets/secret-keys.ts'
import type { LogThrottle } from '../log/log-throttle.ts'
import type { AnswerMetrics } from '../metrics/counters/answer-metrics.ts'
import type { AnswerBounds, AnswerPlace } from '../store/answers/answer.ts'
import type { Store } from '../store/contract/store.ts'
import { type Answer, openAnswer, sealAnswer } from './answer.ts'
import { answerKey, type KeyPart } from './answer-key.ts'
import { AnswerRoom } from './answer-room.ts'
import { Flight } from './flight.ts'

interface AnswerCacheOptions {
  readonly store: Pick<Store, 'answers'>
  /** Null while they are not loaded. */
  readonly secrets: () => SecretKeys | null
  readonly bounds: () => AnswerBounds
  /** Bytes of responses in the memory of this process. */
  readonly memory: () => number
  readonly clock: Clock
  readonly metrics: AnswerMetrics
  readonly warnings: Pick<LogThrottle, 'warn'>
  readonly room?: AnswerRoom
}

/** One response takes no more of the memory for all than this part. */
const largestShare = 1 / 8
/** Responses on their way to the store; more are not stored. */
const maxWrites = 200

interface Secrets {
  readonly of: SecretKeys
  readonly keying: Buffer
  readonly sealing: Buffer
}

export class AnswerCache {
  readonly room: AnswerRoom
  readonly #options: AnswerCacheOptions
  #opened: LRUCache<string, Answer>
  readonly #flights = new Map<string, Flight>()
  readonly #writes = new Set<Promise<unknown>>()
  #secrets: Secrets | null = null

  constructor(options: AnswerCacheOptions) {
    this.#options = options
    this.room = options.room ?? new AnswerRoom()
    options.metrics.held = () => this.room.bytes
    this.#opened = memoryOf(options.memory())
    options.metrics.memory = () => ({ bytes: this.#opened.calculatedSize, entries: this.#opened.size })
  }

  /** False until the secret keys are there, without which nothing may be stored. */
  get isReady(): boolean {
    return this.#keys() !== null
  }

  /** Must be ready. */
  keyOf(parts: readonly KeyPart[], bodies: readonly Buffer[]): string {
    return answerKey(this.#keys()!.keying, parts, bodies)
  }

  /** Returns a response that came within `ttl` seconds; null if none is in memory. */
  inMemory({ key }: AnswerPlace, ttl: number): Answer | null {
    const opened = this.#memory.get(key)
    return opened !== undefined && this.#isFresh(opened, ttl) ? opened : null
  }

  /** Likewise of the store. Never rejects. */
  async inStore(place: AnswerPlace, ttl: number): Promise<Answer | null> {
    const { store, metrics, warnings } = this.#options
    try {
      const sealed = await store.answers.read(place)
      const secrets = this.#keys()
      if (sealed === null || secrets === null) return null
      const answer = openAnswer(secrets.sealing, place.key, Buffer.from(sealed))
      if (answer === null) metrics.unreadable.inc()
      if (answer === null || !this.#isFresh(answer, ttl)) return null
      this.#memory.set(place.key, answer)
      return answer
    } catch (err) {
      metrics.failedReads.inc()
      warnings.warn('read', { err }, 'stored AI response not read, calling the provider')
      return null
    }
  }

  put(place: AnswerPlace, answer: Answer): void {
    const secrets = this.#keys()
    if (secrets === null) return
    this.#memory.set(place.key, answer)
    const { writes } = this.#options.metrics
    if (this.#writes.size >= maxWrites || this.room.isTight) return writes.dropped.inc()
    const sealed = sealAnswer(secrets.sealing, place.key, answer)
    const write = this.#write(place, sealed, answer.expiresAt)
    this.#writes.add(write)
    void write.finally(() => this.#writes.delete(write))
  }

  /** Stores a response for calls with the same Idempotency-Key; false if that fails. */
  async keep(place: AnswerPlace, answer: Answer): Promise<boolean> {
    const secrets = this.#keys()
    if (secrets === null) return false
    const write = this.#write(place, sealAnswer(secrets.sealing, place.key, answer), answer.expiresAt)
    this.#writes.add(write)
    const isStored = await write
    this.#writes.delete(write)
    if (isStored) this.#memory.set(place.key, answer)
    return isStored
  }

  /** The call on its way that others may join; null for none. */
  flight(key: string): Flight | null {
    return this.#flights.get(key) ?? null
  }

  /** Begins one, in the place of any other. */
  begin(place: AnswerPlace): Flight {
    const { key } = place
    const flight = new Flight(place, this.#options.bounds().answer, this.room, over => {
      if (this.#flights.get(key) === over) this.#flights.delete(key)
    })
    this.#flights.set(key, flight)
    return flight
  }

  async close(): Promise<void> {
    await Promise.all(this.#writes)
  }

  async #write(place: AnswerPlace, sealed: Buffer, expiresAt: number): Promise<boolean> {
    const { store, metrics, warnings, bounds } = this.#options
    this.room.bytes += sealed.length
    try {
      const { answer, ...others } = bounds()
      const stored = { answer: answer + maxAbout, ...others }
      const isStored = await store.answers.write(place, sealed, expiresAt, stored)
      metrics.writes[isStored ? 'stored' : 'dropped'].inc()
      return isStored
    } catch (err) {
      metrics.writes.failed.inc()
      warnings.warn('write', { err }, 'AI response not stored')
      return false
    } finally {
      this.room.bytes -= sealed.length
    }
  }

  #isFresh({ storedAt, expiresAt }: Answer, ttl: number): boolean {
    return this.#options.clock.now() < Math.min(expiresAt, storedAt + ttl * 1000)
  }

  /** A reload that changes its size empties it: the store has the same. */
  get #memory(): LRUCache<string, Answer> {
    const size = this.#options.memory()
    if (this.#opened.maxSize !== size) this.#opened = memoryOf(size)
    return this.#opened
  }

  #keys(): Secrets | null {
    const of = this.#options.secrets()
    if (of === null) return null
    if (this.#secrets?.of !== of)
      this.#secrets = { of, keying: of.keyFor('answers: key'), sealing: of.keyFor('answers: seal') }
    return this.#secrets
  }
}

/** Bytes of a sealed response besides its body: a head has far fewer. */
const maxAbout = 256 * 1024
/** Bytes that an entry takes besides its body. */
const entrySize = 1024

function memoryOf(maxSize: number): LRUCache<string, Answer> {
  return new LRUCache({
    maxSize,
    maxEntrySize: Math.floor(maxSize * largestShare),
    sizeCalculation: ({ body }) => body.length + entrySize,
  })
}
