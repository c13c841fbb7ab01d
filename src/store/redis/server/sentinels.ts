// What the Sentinels agree on: the primary, and the replicas they could promote. One Sentinel may be isolated
// with a replaced primary, so nothing is concluded without a majority.

import { inTime } from '../../../base/turns/in-time.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Host } from './address.ts'
import { type Client, connectToSentinel, type Dialling, type Guide, isSame } from './connect.ts'
import { tooLate } from './failure.ts'
import { type SentinelReply, replyOf, replicasIn, together } from './sentinel-reply.ts'

/** Delay between two polls, in ms. */
const period = 500
/** How long a reply stays valid, in ms. */
const replyLife = 2_500
const replyTimeout = 1_000

/** What most Sentinels agree on. */
export interface View {
  readonly primary: Host
  /** Increases with each primary that the Sentinels choose. */
  readonly epoch: number
  /** Replicas that could become the primary, each by its names as `host:port`. */
  readonly electable: readonly (readonly string[])[]
  readonly spared: number
}

interface Sentinel {
  readonly host: Host
  readonly client: Client
  reply: SentinelReply | null
  /** Time of the request, in monotonic ms. */
  askedAt: number
}

export class Sentinels implements Guide {
  readonly #dialling: Omit<Dialling, 'guide'>
  readonly #clock: Clock
  readonly #sentinels = new Map<string, Sentinel>()
  readonly #listeners: (() => void)[] = []
  #waiting = Promise.withResolvers<Host>()
  #view: View | null = null
  /** When the view expires if no further Sentinel replies, in monotonic ms. */
  #until = Number.NEGATIVE_INFINITY
  /** The primary that listeners have been told about. */
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

  /** Null while most Sentinels are unreachable. */
  get view(): View | null {
    return this.#clock.monotonic() < this.#until ? this.#view : null
  }

  get primary(): Host | null {
    return this.view?.primary ?? null
  }

  get census(): string {
    const replies = this.#fresh()
    return `${replies.length} of ${this.#count(replies)} Sentinels name a primary ${this.#dialling.address.name}`
  }

  async locate(): Promise<Host> {
    return this.primary ?? this.#waiting.promise
  }

  /** Calls back when another server becomes the primary, or none is known any more. */
  onSwitch(listener: () => void): void {
    this.#listeners.push(listener)
  }

  look(): Promise<void> {
    return (this.#looking ??= this.#askAll())
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const { client } of this.#sentinels.values()) client.cut()
  }

  #add(host: Host): void {
    const client = connectToSentinel(this.#dialling, host)
    client.onLoss(ignore)
    client.onReady(() => this.look())
    this.#sentinels.set(`${host.host}:${host.port}`, { host, client, reply: null, askedAt: 0 })
  }

  async #askAll(): Promise<void> {
    clearTimeout(this.#timer)
    await Promise.all([...this.#sentinels.values()].map(sentinel => this.#ask(sentinel)))
    this.#looking = null
    if (this.#isClosed) return
    this.#forget()
    this.#conclude()
    this.#timer = setTimeout(() => this.look(), period)
  }

  async #ask(sentinel: Sentinel): Promise<void> {
    const { client } = sentinel
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
      sentinel.reply = replyOf(await inTime(client.sendAll(commands), replyTimeout, tooLate))
      sentinel.askedAt = askedAt
    } catch {
      // A connection that hangs is useless.
      client.redial()
    }
    if (this.#isClosed) return
    this.#meet(sentinel.reply)
    this.#conclude()
  }

  /** Starts polling the Sentinels that this one knows. */
  #meet(reply: SentinelReply | null): void {
    const ids = new Set([...this.#sentinels.values()].map(({ reply }) => reply?.id))
    for (const { id, host } of reply?.others ?? []) {
      if (!ids.has(id) && !this.#sentinels.has(`${host.host}:${host.port}`)) this.#add(host)
    }
  }

  /** Forgets Sentinels that are not in the URL, do not reply and are unknown to the others. */
  #forget(): void {
    const { hosts } = this.#dialling.address
    const fresh = this.#fresh()
    if (fresh.length === 0) return
    const allHosts = [
      ...hosts,
      ...fresh.flatMap(sentinel => [sentinel.host, ...sentinel.reply!.others.map(({ host }) => host)]),
    ]
    for (const [name, sentinel] of this.#sentinels) {
      if (allHosts.some(host => isSame(host, sentinel.host))) continue
      sentinel.client.cut()
      this.#sentinels.delete(name)
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

  #agree(fresh: readonly Sentinel[]): readonly [View | null, until: number] {
    const majority = Math.floor(this.#count(fresh) / 2) + 1
    const distinct = new Map(fresh.map(sentinel => [sentinel.reply!.id, sentinel]))
    if (distinct.size < majority) return [null, 0]
    const times = [...distinct.values()].map(({ askedAt }) => askedAt).sort((a, b) => b - a)
    const epoch = Math.max(...fresh.map(({ reply }) => reply!.epoch))
    const newest = fresh.filter(({ reply }) => reply!.epoch === epoch)
    const { primary } = newest[0]!.reply!
    const voices = together(newest).map(({ reply }) => reply!)
    return [{ primary, epoch, ...replicasIn(voices, majority) }, times[majority - 1]! + replyLife]
  }

  /** Counts at least those of the URL: a Sentinel that has lost its state knows of no others. */
  #count(fresh: readonly Sentinel[]): number {
    return Math.max(
      this.#dialling.address.hosts.length,
      ...fresh.map(({ reply }) => reply!.others.length + 1),
    )
  }

  #fresh(): readonly Sentinel[] {
    const oldest = this.#clock.monotonic() - replyLife
    return [...this.#sentinels.values()].filter(({ reply, askedAt }) => reply !== null && askedAt > oldest)
  }
}

function ignore(): void {}
