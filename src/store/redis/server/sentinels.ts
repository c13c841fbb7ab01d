// What the Sentinels of one primary say together: which server it is, and which replicas they could make the primary instead. One Sentinel
// alone may be cut off with a primary that the others have replaced, so nothing holds without the replies of most of them.

import { inTime } from '../../../base/turns/in-time.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Host } from './address.ts'
import {
  type Client,
  connectToSentinel,
  type Dialling,
  type Guide,
  isSame,
  type Subscription,
  subscribeToSentinel,
} from './connect.ts'
import { tooLate } from './failure.ts'
import { type SentinelReply, replyOf, replicasIn } from './sentinel-reply.ts'

/** Ms between two looks. */
const period = 500
/** For how long an reply holds, in ms. */
const replyLife = 2_500
const replyTimeout = 1_000

/** What most Sentinels agree on. */
export interface View {
  readonly primary: Host
  /** Grows with each primary that the Sentinels choose. */
  readonly epoch: number
  /** Those that could become the primary, each by its names as `host:port`. */
  readonly electable: readonly (readonly string[])[]
  /** How many replicas beside those are known. */
  readonly spared: number
}

interface Voice {
  readonly host: Host
  readonly client: Client
  readonly switches: Subscription
  reply: SentinelReply | null
  /** Monotonic ms at which the reply was asked for. */
  askedAt: number
}

export class Sentinels implements Guide {
  readonly #dialling: Omit<Dialling, 'guide'>
  readonly #clock: Clock
  readonly #voices = new Map<string, Voice>()
  readonly #listeners: (() => void)[] = []
  #waiting = Promise.withResolvers<Host>()
  #view: View | null = null
  /** Monotonic ms until which the view holds if no Sentinel says more. */
  #until = Number.NEGATIVE_INFINITY
  /** The primary that listeners know of. */
  #announced: Host | null = null
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> | null = null
  #isClosed = false

  constructor(dialling: Omit<Dialling, 'guide'>, clock: Clock) {
    this.#dialling = dialling
    this.#clock = clock
    for (const host of dialling.address.hosts) this.#add(host)
    void this.look()
  }

  /** Null while most Sentinels can't be asked. */
  get view(): View | null {
    return this.#clock.monotonic() < this.#until ? this.#view : null
  }

  get primary(): Host | null {
    return this.view?.primary ?? null
  }

  /** Returns in a sentence how many Sentinels reply. */
  get census(): string {
    const replies = this.#fresh()
    return `${replies.length} of ${this.#count(replies)} Sentinels name a primary ${this.#dialling.address.name}`
  }

  async found(): Promise<Host> {
    return this.primary ?? this.#waiting.promise
  }

  /** Calls back when another server is the primary, or none any more as far as known. */
  onSwitch(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** Asks all of them. */
  look(): Promise<void> {
    return (this.#looking ??= this.#askAll())
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const { client, switches } of this.#voices.values()) {
      client.cut()
      switches.end()
    }
  }

  #add(host: Host): void {
    const dialling = { ...this.#dialling, guide: null }
    const client = connectToSentinel(dialling, host)
    client.onLoss(ignore)
    client.onReady(() => this.look())
    const switches = subscribeToSentinel(dialling, host, '+switch-master', () => this.look())
    const voice = { host, client, switches, reply: null, askedAt: 0 }
    this.#voices.set(`${host.host}:${host.port}`, voice)
  }

  async #askAll(): Promise<void> {
    clearTimeout(this.#timer)
    await Promise.all([...this.#voices.values()].map(voice => this.#ask(voice)))
    this.#looking = null
    if (this.#isClosed) return
    this.#forget()
    this.#conclude()
    this.#timer = setTimeout(() => this.look(), period)
  }

  async #ask(voice: Voice): Promise<void> {
    const { client } = voice
    if (!client.isReady) return
    const askedAt = this.#clock.monotonic()
    const { name } = this.#dialling.address
    const commands = [
      ['SENTINEL', 'MYID'],
      ['SENTINEL', 'MASTER', name],
      ['SENTINEL', 'REPLICAS', name],
      ['SENTINEL', 'SENTINELS', name],
    ] as const
    try {
      voice.reply = replyOf(await inTime(client.sendAll(commands), replyTimeout, tooLate))
      voice.askedAt = askedAt
    } catch {
      // A connection that hangs is of no use to anybody.
      client.redial()
    }
    if (this.#isClosed) return
    this.#meet(voice.reply)
    this.#conclude()
  }

  /** Asks those, too, of whom a Sentinel knows, from now on. */
  #meet(reply: SentinelReply | null): void {
    const known = new Set([...this.#voices.values()].map(({ reply }) => reply?.id))
    for (const { id, host } of reply?.others ?? []) {
      if (!known.has(id) && !this.#voices.has(`${host.host}:${host.port}`)) this.#add(host)
    }
  }

  /** Lets go of those that are not in the URL, say nothing and are known to nobody any more. */
  #forget(): void {
    const { hosts } = this.#dialling.address
    const fresh = this.#fresh()
    if (fresh.length === 0) return
    const known = [
      ...hosts,
      ...fresh.flatMap(voice => [voice.host, ...voice.reply!.others.map(({ host }) => host)]),
    ]
    for (const [name, voice] of this.#voices) {
      if (known.some(host => isSame(host, voice.host))) continue
      voice.client.cut()
      voice.switches.end()
      this.#voices.delete(name)
    }
  }

  #conclude(): void {
    const [view, until] = this.#agree(this.#fresh())
    this.#view = view
    this.#until = until
    const primary = view?.primary ?? null
    if (primary !== null) {
      this.#waiting.resolve(primary)
      this.#waiting = Promise.withResolvers()
    }
    if (primary === null ? this.#announced === null : isSame(primary, this.#announced)) return
    this.#announced = primary
    for (const listener of this.#listeners) listener()
  }

  #agree(fresh: readonly Voice[]): readonly [View | null, until: number] {
    const most = Math.floor(this.#count(fresh) / 2) + 1
    const distinct = new Map(fresh.map(voice => [voice.reply!.id, voice]))
    if (distinct.size < most) return [null, 0]
    const times = [...distinct.values()].map(({ askedAt }) => askedAt).sort((a, b) => b - a)
    const replies = fresh.map(({ reply }) => reply!)
    const epoch = Math.max(...replies.map(reply => reply.epoch))
    const newest = replies.filter(reply => reply.epoch === epoch)
    const { primary } = newest[0]!
    return [{ primary, epoch, ...replicasIn(newest, most) }, times[most - 1]! + replyLife]
  }

  /** Counts those of the URL at least: one that has lost its memory knows of no others. */
  #count(fresh: readonly Voice[]): number {
    return Math.max(
      this.#dialling.address.hosts.length,
      ...fresh.map(({ reply }) => reply!.others.length + 1),
    )
  }

  #fresh(): readonly Voice[] {
    const oldest = this.#clock.monotonic() - replyLife
    return [...this.#voices.values()].filter(({ reply, askedAt }) => reply !== null && askedAt > oldest)
  }
}

function ignore(): void {}
