// Holds the events of a stream until a webhook has let their texts pass. Deltas of one text are put together,
// and it is asked about them with what came before.

import { EventTexts } from '../event-texts.ts'
import type { EventReader, Stop } from '../guarded-events.ts'
import { withoutLogprobs } from '../redact.ts'
import { AskedChannel } from './asked-channel.ts'
import { isBase64, structural } from './json-texts.ts'
import type { Verdict } from './verdict.ts'

interface Piece {
  readonly channel: AskedChannel
  readonly text: string
  /** Its end in the channel. */
  readonly end: number
  set(text: string): void
}

/** A text that does not go on in another event. */
interface WholeText {
  readonly text: string
  /** Null for what cannot be replaced. */
  readonly set: ((text: string) => void) | null
}

interface HeldEvent {
  readonly size: number
  readonly pieces: readonly Piece[]
  readonly wholes: readonly WholeText[]
  readonly write: (isChanged: boolean) => string
}

interface WindowQuestion {
  readonly texts: readonly string[]
  /** For each text, how many UTF-16 units of it were decided before and must stay as they are. */
  readonly before: readonly number[]
}

/** UTF-16 units that are held before words wait no longer for their ends. */
const maxHeld = 16 * 1024
/** Whole texts whose verdicts are remembered, as most are the same in each event. */
const maxRemembered = 1_000

export class AskedEvents implements EventReader {
  stop: Stop | null = null
  hasRedacted = false
  /** In UTF-16 units. */
  heldSize = 0
  /** UTF-16 units of text that came since it was last asked. */
  newSize = 0
  readonly #channels = new Map<string, AskedChannel>()
  /** By whole texts; null for those that stay. */
  readonly #decided = new Map<string, string | null>()
  #held: HeldEvent[] = []
  /** Of the next event. */
  #lines: WholeText[] = []
  /** Those that got the last text of their choice, item or block: its others have ended, or pause. */
  readonly #last = new Map<string, AskedChannel>()
  readonly #askedChannels = new Map<AskedChannel, string>()
  #askedWholes: readonly string[] = []

  push(event: unknown, json: string, write: (isChanged: boolean) => string): string {
    const texts = new EventTexts(event, true)
    if (texts.isTooDeep) return this.#refuse('an event that nests too deep')
    const pieces: Piece[] = []
    const wholes: WholeText[] = []
    for (const { text, channel, name, set } of texts.texts) {
      if (channel !== null) pieces.push(this.#take(channel, text, set))
      else this.#note(wholes, text, structural.has(String(name)) ? null : set)
    }
    const writeClean = (isChanged: boolean) => {
      if (isChanged) withoutLogprobs(event)
      return write(isChanged)
    }
    this.#hold(json.length, pieces, wholes, writeClean)
    for (const beginning of texts.closed) this.#close(beginning)
    return this.release()
  }

  inspect(line: string): void {
    this.#note(this.#lines, line, null)
  }

  pass(text: string, isEnd: boolean): string {
    this.#hold(text.length, [], [], () => text)
    if (isEnd) this.#close('')
    return this.release()
  }

  passUnread(): string {
    return this.#refuse('an event that is too large')
  }

  end(): string {
    this.#close('')
    return this.release()
  }

  /** Null if all that came is decided. */
  question(): WindowQuestion | null {
    this.newSize = 0
    this.#askedChannels.clear()
    const before = new Map<string, number>()
    for (const channel of this.#channels.values()) {
      if (!channel.isNew) continue
      const asked = channel.ask()
      this.#askedChannels.set(channel, asked.text)
      before.set(asked.text, Math.max(asked.before, before.get(asked.text) ?? 0))
    }
    const wholes = new Set<string>()
    for (const event of this.#held)
      for (const { text } of event.wholes) if (!this.#decided.has(text)) wholes.add(text)
    for (const text of wholes) before.set(text, before.get(text) ?? 0)
    this.#askedWholes = [...wholes]
    return before.size === 0 ? null : { texts: [...before.keys()], before: [...before.values()] }
  }

  /** Takes a verdict about the last question, other than that it is blocked. Returns what can be sent. */
  obey(verdict: Verdict): string {
    const changed = verdict.kind === 'replace' ? verdict.texts : unchanged
    for (const [channel, text] of this.#askedChannels) {
      const replacement = changed.get(text)
      if (replacement === undefined) channel.allow()
      else if (!channel.replace(replacement)) return this.#refuse(irreplaceable)
    }
    for (const text of this.#askedWholes) this.#decided.set(text, changed.get(text) ?? null)
    return this.release()
  }

  release(): string {
    if (this.stop !== null) return ''
    let count = 0
    let text = ''
    for (const event of this.#held) {
      if (!this.#isDecided(event)) break
      const released = this.#releaseEvent(event)
      if (released === null) break
      count++
      this.heldSize -= event.size
      text += released
    }
    if (count > 0) this.#held = this.#held.slice(count)
    if (this.#held.length === 0 && this.#decided.size > maxRemembered) this.#decided.clear()
    return text
  }

  #refuse(what: string): '' {
    this.stop ??= { unreadable: what }
    return ''
  }

  #take(name: string, text: string, set: (text: string) => void): Piece {
    let channel = this.#channels.get(name)
    if (channel === undefined) this.#channels.set(name, (channel = new AskedChannel(placeIn(name))))
    channel.push(text)
    if (text !== '') this.#last.set(channel.place, channel)
    this.newSize += text.length
    return { channel, text, end: channel.length, set }
  }

  #note(wholes: WholeText[], text: string, set: WholeText['set']): void {
    if (text === '' || isBase64(text)) return
    wholes.push({ text, set })
    if (!this.#decided.has(text)) this.newSize += text.length
  }

  #hold(
    size: number,
    pieces: readonly Piece[],
    wholes: readonly WholeText[],
    write: (isChanged: boolean) => string,
  ): void {
    this.#held.push({ size, pieces, wholes: [...this.#lines, ...wholes], write })
    this.#lines = []
    this.heldSize += size
  }

  #close(beginning: string): void {
    for (const [name, channel] of this.#channels) if (name.startsWith(beginning)) channel.isClosed = true
  }

  #isDecided({ pieces, wholes }: HeldEvent): boolean {
    return (
      wholes.every(({ text }) => this.#decided.has(text)) &&
      pieces.every(({ channel, end }) => end <= channel.safe(this.#isLast(channel) && !this.#isFull))
    )
  }

  #isLast(channel: AskedChannel): boolean {
    return this.#last.get(channel.place) === channel
  }

  get #isFull(): boolean {
    return this.heldSize > maxHeld
  }

  /** Null if a text would have to be replaced that cannot be. */
  #releaseEvent({ pieces, wholes, write }: HeldEvent): string | null {
    let isChanged = false
    for (const { channel, text, end, set } of pieces) {
      const safe = channel.release(text, end)
      if (safe === text) continue
      set(safe)
      isChanged = true
    }
    for (const { text, set } of wholes) {
      const replacement = this.#decided.get(text) ?? null
      if (replacement === null) continue
      if (set === null) {
        this.#refuse(irreplaceable)
        return null
      }
      set(replacement)
      isChanged = true
    }
    if (isChanged) this.hasRedacted = true
    return write(isChanged)
  }
}

/** The choice, item or block of a channel; the member of the event if there is none. */
function placeIn(name: string): string {
  return /^\/?[^/]*/.exec(name)![0]
}

const irreplaceable = 'a text that cannot be replaced as its webhook wants'
const unchanged: ReadonlyMap<string, string> = new Map()
