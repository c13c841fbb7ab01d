// Holds events of a stream back until nothing in them can be part of a match that is not known yet.

import { Channel } from './channel.ts'
import type { CompiledCheck } from './compiled-guard.ts'
import { EventTexts } from './event-texts.ts'
import { markOf, redactText, withoutLogprobs } from './redact.ts'
import type { GuardReport } from './report.ts'
import type { Match } from './scan.ts'
import { matchesIn } from './text-scanner.ts'

interface Piece {
  readonly channel: Channel
  readonly text: string
  /** Its end in the channel. */
  readonly end: number
  set(text: string): void
}

interface HeldEvent {
  readonly size: number
  readonly pieces: readonly Piece[]
  isChanged: boolean
  readonly write: (isChanged: boolean) => string
}

/** Why a stream ends: what it has, or that it cannot be looked at. */
export type Stop = { readonly blocked: readonly string[] } | { readonly unreadable: string }

/** Takes the events of a stream one after the other, and returns what can be sent. */
export interface EventReader {
  readonly stop: Stop | null
  readonly hasRedacted: boolean
  /**
   * Takes an event, which may be changed in place; `json` is what it was read from. `write` writes the event
   * anew if it has changed, else as it came.
   */
  push(event: unknown, json: string, write: (isChanged: boolean) => string): string
  /** Takes an event that is not whole. */
  passUnread(text: string): string
  /** Looks at what cannot be replaced, before the event that has it. */
  inspect(text: string): void
  /** What has no texts, or ends the stream, goes through in its turn. */
  pass(text: string, isEnd: boolean): string
  end(): string
}

/** In UTF-16 units: longer than any match, by far. */
const maxHeld = 1024 * 1024

export class GuardedEvents implements EventReader {
  /** Set at the first thing for which nothing more must be sent. */
  stop: Stop | null = null
  hasRedacted = false
  readonly #check: CompiledCheck
  readonly #report: GuardReport
  readonly #channels = new Map<string, Channel>()
  #held: HeldEvent[] = []
  #heldSize = 0

  constructor(check: CompiledCheck, report: GuardReport) {
    this.#check = check
    this.#report = report
  }

  push(event: unknown, json: string, write: (isChanged: boolean) => string): string {
    const texts = new EventTexts(event, this.#check.patterns.mayMatch(json))
    if (texts.isTooDeep) return this.#passUnread(write(false), 'an event that nests too deep')
    let isChanged = false
    for (const name of texts.names) this.inspect(name)
    const pieces: Piece[] = []
    for (const { text, channel, set } of texts.texts) {
      if (channel === null) {
        const redacted = this.#redactWhole(text)
        if (redacted === text) continue
        set(redacted)
        isChanged = true
      } else pieces.push(this.#takePiece(this.#channel(channel), text, set))
    }
    this.#hold({ size: json.length, pieces, isChanged, write: changed => this.#write(event, changed, write) })
    for (const beginning of texts.closed) this.#close(beginning)
    return this.#release()
  }

  passUnread(text: string): string {
    return this.#passUnread(text, 'an event that is too large')
  }

  inspect(text: string): void {
    this.#take(matchesIn(text, this.#check.patterns), () => false)
  }

  #passUnread(text: string, what: string): string {
    this.#stop({ unreadable: what })
    return this.stop === null ? this.pass(text, false) : ''
  }

  pass(text: string, isEnd: boolean): string {
    this.#hold({ size: text.length, pieces: [], isChanged: false, write: () => text })
    if (isEnd) this.#close('')
    return this.#release()
  }

  end(): string {
    this.#close('')
    return this.#release()
  }

  #write(event: unknown, isChanged: boolean, write: (isChanged: boolean) => string): string {
    if (isChanged) {
      this.hasRedacted = true
      withoutLogprobs(event)
    }
    return write(isChanged)
  }

  #channel(name: string): Channel {
    let channel = this.#channels.get(name)
    if (channel === undefined) this.#channels.set(name, (channel = new Channel(this.#check.patterns)))
    return channel
  }

  #takePiece(channel: Channel, text: string, set: (text: string) => void): Piece {
    this.#take(channel.push(text), match => channel.redact(match))
    return { channel, text, end: channel.length, set }
  }

  #redactWhole(text: string): string {
    const redactions: Match[] = []
    this.#take(matchesIn(text, this.#check.patterns), match => redactions.push(match) > 0)
    return redactions.length === 0 ? text : redactText(text, redactions)
  }

  /** `redact` is false for what cannot be redacted any more, which blocks. */
  #take(matches: readonly Match[], redact: (match: Match) => boolean): void {
    for (const match of matches) {
      const action = this.#check.actionOf(match.name)
      const isBlocked = action === 'block' || (action === 'redact' && !redact(match))
      this.#report.note(this.#check.check, match.name, isBlocked ? 'block' : action)
      if (isBlocked) this.#stop({ blocked: [match.name] })
    }
  }

  #close(beginning: string): void {
    for (const [name, channel] of this.#channels)
      if (name.startsWith(beginning)) this.#take(channel.close(), match => channel.redact(match))
  }

  #hold(event: HeldEvent): void {
    this.#held.push(event)
    this.#heldSize += event.size
  }

  #release(): string {
    if (this.stop !== null) return ''
    const { isEnforced } = this.#check
    let count = 0
    let text = ''
    for (const event of this.#held) {
      if (isEnforced && event.pieces.some(({ channel, end }) => end > channel.safe)) break
      count++
      this.#heldSize -= event.size
      text += this.#releaseEvent(event)
    }
    if (count > 0) this.#held = this.#held.slice(count)
    if (this.#heldSize > maxHeld)
      this.#stop({ unreadable: 'a stream in which it stays undecided for too long' })
    return text
  }

  #releaseEvent(event: HeldEvent): string {
    for (const { channel, text, set } of event.pieces) {
      const safe = channel.release(text, markOf)
      if (safe === text) continue
      set(safe)
      event.isChanged = true
    }
    return event.write(event.isChanged)
  }

  #stop(stop: Stop): '' {
    if ('unreadable' in stop) {
      this.#report.note(this.#check.check, 'unreadable', this.#check.isEnforced ? 'block' : 'flag')
      if (!this.#check.isEnforced) return ''
    }
    this.stop ??= stop
    return ''
  }
}
