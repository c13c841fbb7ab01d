// A call on its way, whose response others that ask for the same get as it comes.

import type { Refusal } from '../errors/catalogue/refusal.ts'
import type { AnswerPlace } from '../store/answers/answer.ts'
import type { Answer, AnswerHead, AnswerUse } from './answer.ts'
import type { AnswerRoom } from './answer-room.ts'

/** Bytes that followers may be behind, once there is too much to keep all of it. */
const maxBehind = 1024 * 1024

/** How many times its size a piece may keep in memory. */
const maxPinned = 4

/** Pieces that are kept: each takes memory besides its bytes. */
const maxPieces = 100_000
const pieceSize = 128

/** Told what becomes of a call; each may leave while it is told. */
export interface Follower {
  /** The index of the next piece that it needs. */
  readonly at: number
  /** There is more, or the end. */
  moved(): void
  /** It never began, or broke off; `mayJoin` if only its caller left, so that the next call may have it. */
  failed(mayJoin: boolean): void
}

type FlightState = 'waiting' | 'begun' | 'ended' | 'failed'

export class Flight {
  readonly place: AnswerPlace
  state: FlightState = 'waiting'
  head: AnswerHead | null = null
  /** What the provider took for it; null before the end. */
  use: AnswerUse | null = null
  /** Ms since the epoch; null for a response that is not from the store. */
  storedAt: number | null = null
  /** Why it broke off; null if that is not known. */
  refusal: Refusal | null = null
  /** Whether the first caller gets the head only with what a guard lets pass. */
  isHeld = false
  /** Goes on once followers are no longer behind. */
  resume: (() => void) | null = null
  /** Whether the call goes on when its caller leaves, also if nobody waits for the response. */
  isPersistent = false
  /** Stand for the call, if it has an Idempotency-Key, and for where its response is stored. */
  fingerprint = ''
  ray = ''
  answerKey = ''
  /** Called when the last follower has left before the end. */
  onEmpty: (() => void) | null = null
  readonly #maxSize: number
  readonly #room: AnswerRoom
  /** Bytes that count in the room. */
  #counted = 0
  readonly #onOver: (flight: Flight) => void
  readonly #followers = new Set<Follower>()
  #pieces: Buffer[] = []
  /** How many pieces before those were forgotten. */
  #forgotten = 0
  #size = 0
  #isOverfull = false
  #isPaused = false

  /**
   * Of more than `maxSize` bytes, and once the room is full, only what followers still need is kept. Calls
   * `onOver` at the end.
   */
  constructor(place: AnswerPlace, maxSize: number, room: AnswerRoom, onOver: (flight: Flight) => void) {
    this.place = place
    this.#maxSize = maxSize
    this.#room = room
    this.#onOver = onOver
  }

  /** Returns one that has ended. */
  static of(answer: Answer, pieceSize: number, room: AnswerRoom): Flight {
    const flight = new Flight(nowhere, Number.POSITIVE_INFINITY, room, () => {})
    flight.#size = answer.body.length
    for (let at = 0; at < answer.body.length; at += pieceSize)
      flight.#pieces.push(answer.body.subarray(at, at + pieceSize))
    flight.head = answer.head
    flight.use = answer.use
    flight.storedAt = answer.storedAt
    flight.state = 'ended'
    return flight
  }

  get isFollowed(): boolean {
    return this.#followers.size > 0
  }

  get isOver(): boolean {
    return this.state === 'ended' || this.state === 'failed'
  }

  /** Whether all that came is still here. */
  get isWhole(): boolean {
    return !this.#isOverfull
  }

  /** Bytes that are still here. */
  get size(): number {
    return this.#size
  }

  get body(): Buffer {
    return this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces)
  }

  /** Null if it is not there yet. */
  piece(at: number): Buffer | null {
    return this.#pieces[at - this.#forgotten] ?? null
  }

  follow(follower: Follower): void {
    this.#followers.add(follower)
    this.#count()
  }

  leave(follower: Follower): void {
    if (!this.#followers.delete(follower)) return
    this.progressed()
    this.#count()
    if (this.#followers.size === 0 && !this.isOver) this.onEmpty?.()
  }

  /** A follower has taken pieces. */
  progressed(): void {
    if (!this.#isOverfull) return
    this.#forget()
    if (!this.#isPaused || this.#size > maxBehind) return
    this.#isPaused = false
    this.resume?.()
  }

  begin(head: AnswerHead): void {
    this.head = head
    this.state = 'begun'
    this.#tell(follower => follower.moved())
  }

  /** Ends as an earlier response, which was in the store. */
  land(answer: Answer): void {
    this.storedAt = answer.storedAt
    this.use = answer.use
    this.#pieces = [answer.body]
    this.#size = answer.body.length
    this.head = answer.head
    this.end()
  }

  /** The bytes must not change any more. False if followers are too far behind. */
  push(bytes: Buffer): boolean {
    // A small piece may be a part of what the socket read.
    this.#pieces.push(bytes.length * maxPinned < bytes.buffer.byteLength ? Buffer.from(bytes) : bytes)
    this.#size += bytes.length
    if (!this.#isOverfull) this.#isOverfull = !this.#mayKeep
    this.#count()
    this.#tell(follower => follower.moved())
    if (!this.#isOverfull) return true
    this.#forget()
    this.#isPaused = this.#size > maxBehind
    return !this.#isPaused
  }

  end(): void {
    if (this.isOver) return
    this.state = 'ended'
    this.#onOver(this)
    this.#tell(follower => follower.moved())
    this.#count()
  }

  fail(mayJoin: boolean): void {
    if (this.isOver) return
    this.state = 'failed'
    this.#onOver(this)
    this.#tell(follower => follower.failed(mayJoin))
    this.#count()
  }

  get #mayKeep(): boolean {
    return this.#size <= this.#maxSize && this.#pieces.length <= maxPieces && !this.#room.isFull
  }

  /** Once it is over, only those who follow keep it. */
  #count(): void {
    const isKept = !this.isOver || this.#followers.size > 0
    const bytes = isKept ? this.#size + this.#pieces.length * pieceSize : 0
    this.#room.bytes += bytes - this.#counted
    this.#counted = bytes
  }

  #tell(what: (follower: Follower) => void): void {
    if (this.#followers.size > 0) for (const follower of [...this.#followers]) what(follower)
  }

  #forget(): void {
    let first = this.#forgotten + this.#pieces.length
    for (const { at } of this.#followers) first = Math.min(first, at)
    for (const piece of this.#pieces.splice(0, first - this.#forgotten)) this.#size -= piece.length
    this.#forgotten = first
    this.#count()
  }
}

const nowhere: AnswerPlace = { account: '', gateway: '', key: '' }
