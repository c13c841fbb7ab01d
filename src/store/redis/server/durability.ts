// Confirms writes: each counts only once it is on disk, and on every replica that could become the primary. A
// batch and its proof go to one server in a single piece, since no other server can confirm it.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../../base/clock.ts'
import type { DegradedCode } from '../../../metrics/counters/counts.ts'
import type { Degradation } from '../../contract/degradation.ts'
import {
  expectTrusted,
  StoreDegraded,
  StoreDoubtful,
  StoreUnreachable,
  StoreUntouched,
} from '../../contract/store.ts'
import type { Seen } from '../../contract/mark.ts'
import type { Trust } from '../../contract/trust.ts'
import type { Argument, Command } from './connect.ts'
import type { Connection } from './connection.ts'
import { isDemoted, isDenied, isMoved, isReply, NotPrimary, reasonOf } from './failure.ts'
import { keys } from './keys.ts'
import { markIn, readingOfMark } from './mark-text.ts'
import { lackOf, type Replicas } from './replicas.ts'
import { byName, isUnknownScript, type Script, whole } from './script.ts'
import {
  type FactCommands,
  factsOf,
  factsOfSource,
  fewFacts,
  type Reach,
  roleFacts,
  type ServerFacts,
} from './server-facts.ts'
import {
  diskTimeout,
  needsWatching,
  proofsOf,
  type Settings,
  settingsCommands,
  settingsOf,
  waitsForDisk,
} from './settings.ts'
import { isSyncingIn, outwaitSync } from './sync.ts'

/** Delay between two checks of the server, in ms. */
const period = 1_000
/** How long settings are valid, and the delay between checks of whether writes are confirmed, in ms. */
const settingsLife = 5_000
const maxBatch = 200
/** Delay between two proofs that a server is the primary, for callers that found nothing, in ms. */
const absencePause = 50
/** How long each request to a server may wait for lagging replicas, in ms. */
const stragglerTimeout = 20

/** More than any server has, so that WAIT gives all of them time to reply. */
const maxFollowers = 1_000
const followerTimeout = 50
/**
 * For the first check of a server and each reading of its settings: a replica missed then is not waited for
 * until it is seen again.
 */
const longFollowerTimeout = 500

interface Work {
  readonly script: Script | null
  readonly keys: readonly string[]
  readonly args: readonly Argument[]
  readonly isForDisk: boolean
}

interface Ask extends Work {
  /** Whether this is a retry: the server did not know the script, or its keys have moved to another node. */
  readonly isAgain: boolean
  readonly resolve: (result: unknown) => void
  readonly reject: (reason: unknown) => void
}

interface Wanted {
  /** Whether the server was asked for its disk. */
  readonly isAsked: boolean
  /** Whether it is to be watched until it has synced instead. */
  readonly isWatched: boolean
  readonly needed: number
}

interface DurableOptions {
  readonly timeout: number
  readonly clock: Clock
  readonly isCluster: boolean
  readonly degradation: Pick<Degradation, 'reasons'>
  readonly trust: Trust
  /** Whether writes wait for the disk, as far as the server can tell; they do unless this says otherwise. */
  readonly isForDisk?: boolean
}

/** Why writes are refused if the user of the server lacks a right. */
const denial = 'Redis refuses them: NOPERM'

const slowDisk = 'the Redis disk is too slow to confirm writes'

const replaced = 'the primary was replaced meanwhile'

const onlyProof: Work = { script: null, keys: [], args: [], isForDisk: true }

export class DurableWrites {
  /** Used for nothing else, since the server replies to nothing else during a wait for a proof. */
  readonly #connection: Connection
  readonly #replicas: Replicas
  readonly #options: DurableOptions
  readonly #asks: Ask[] = []
  readonly #sentScripts = new Set<Script>()
  /** Scripts that the user of the server may not run, with the keys of one run. */
  readonly #denied = new Map<Script, readonly string[]>()
  #work: Promise<void> | null = null
  /** The look at the server that is due; null if none is. */
  #look: PromiseWithResolvers<Settings> | null = null
  /** The commands for the server's facts: as many as it does not deny. */
  #factCommands = fewFacts
  #settings: Settings | null = null
  #settingsAt = 0
  #refusal: string | null = null
  /** How far the server had come at the last proof, and the replicas that were required to. */
  #reached: Reach | null = null
  #proved: Reach | null = null
  #hasLost = false
  /** The next proof of absence, which callers may join until it begins. */
  #absence: Promise<void> | null = null
  #absenceAt = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(connection: Connection, replicas: Replicas, options: DurableOptions) {
    this.#connection = connection
    this.#replicas = replicas
    this.#options = options
    connection.onArrival(() => {
      this.#sentScripts.clear()
      this.#denied.clear()
      this.#settings = null
      this.#lookSoon()
    })
  }

  /** Why writes are refused or not confirmed, as far as known; null if they are confirmed. */
  get refusal(): string | null {
    return this.#refusal
  }

  get hasLost(): boolean {
    return this.#hasLost
  }

  /** Runs a script that writes; rejects with `StoreUnreachable` if the write is not confirmed in time. */
  async run(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    expectTrusted(this.#options.degradation)
    return this.#join({ script, keys, args, isForDisk: this.#options.isForDisk ?? true })
  }

  /** Resolves once everything written before is confirmed, including writes reported as lost. */
  async confirm(): Promise<void> {
    await this.#join(onlyProof)
  }

  /**
   * Resolves if the server was still the primary when this was called; rejects if another server may have
   * what is missing here. Calls share proofs, at most twenty a second.
   */
  async confirmAbsence(): Promise<void> {
    if (this.#replicas.needed !== 0) await (this.#absence ??= this.#proveSoon())
  }

  settings(): Promise<Settings> {
    this.#settingsAt = Number.NEGATIVE_INFINITY
    return this.#lookSoon()
  }

  /** Resolves once earlier requests are settled. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#work
    clearTimeout(this.#timer)
  }

  async #proveSoon(): Promise<void> {
    const { clock } = this.#options
    await sleep(Math.max(0, this.#absenceAt + absencePause - clock.monotonic()))
    this.#absence = null
    this.#absenceAt = clock.monotonic()
    await this.#join({ ...onlyProof, isForDisk: false })
  }

  #join(work: Work): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#asks.push({ ...work, isAgain: false, resolve, reject })
      this.#start()
    })
  }

  #lookSoon(): Promise<Settings> {
    this.#look ??= Promise.withResolvers()
    const { promise } = this.#look
    // Most callers do not wait for the look.
    promise.catch(ignore)
    this.#start()
    return promise
  }

  #start(): void {
    this.#work ??= this.#workOn()
  }

  /**
   * Handles one batch at a time: a connection that waits for a proof replies to nothing else, and whatever
   * arrives during that forms the next batch.
   */
  async #workOn(): Promise<void> {
    while (this.#look !== null || this.#asks.length > 0) {
      if (this.#look !== null) await this.#lookAround(this.#look)
      // After a new connection, the next look comes first: without the settings, writes would be refused.
      if (this.#look !== null && this.#settings === null) continue
      const asks = this.#asks.splice(0, maxBatch)
      if (asks.length > 0) await this.#take(asks)
    }
    this.#work = null
  }

  async #lookAround(look: PromiseWithResolvers<Settings>): Promise<void> {
    clearTimeout(this.#timer)
    this.#look = null
    await this.#inspect().then(look.resolve, look.reject)
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#lookSoon(), period)
  }

  /** Reads the facts of the server and its replicas, and at times checks that writes are confirmed. */
  async #inspect(): Promise<Settings> {
    const { timeout, clock, isCluster } = this.#options
    const now = clock.monotonic()
    const isOld = this.#settings === null || now - this.#settingsAt >= settingsLife
    const nodes = isCluster ? (['CLUSTER', 'NODES'] as const) : (['PING'] as const)
    const commands = [
      ['EXISTS', keys.format] as const,
      ...this.#factCommands,
      nodes,
      ...(isOld ? settingsCommands : []),
    ]
    const [, source, hello, shard, ...facts] = await this.#connection.runTogether(commands, timeout)
    const { epoch } = this.#connection
    await this.#rehearse()
    if (source instanceof Error && this.#factCommands === fewFacts) {
      this.#factCommands = roleFacts
      return this.#inspect()
    }
    const { replicas } = this.#factsIn([source, hello])
    const followers =
      replicas?.length ?? (await this.#countFollowers(isOld ? longFollowerTimeout : followerTimeout))
    // Another server may have other settings, and has a look of its own.
    if (this.#connection.epoch !== epoch) throw new StoreUnreachable(unconfirmed(replaced))
    this.#replicas.note({ followers, isBlind: replicas === null, nodes: isCluster ? shard : null })
    if (isOld) {
      this.#settings = settingsOf(facts)
      this.#settingsAt = now
      if (typeof facts[0] === 'string') this.#factCommands = fewFacts
    }
    const needed = this.#replicas.needed ?? 1
    const { trust, isForDisk = true } = this.#options
    const isDue = isOld || this.#refusal !== null || trust.isAhead
    if (followers < needed) this.#refusal = lackOf(followers, needed)
    // Only the disk proves that changes that were read will not be taken back.
    else if (isDue) this.#join({ ...onlyProof, isForDisk: trust.isAhead && isForDisk }).catch(ignore)
    return this.#settings!
  }

  /**
   * Checks which scripts are still denied: until none is, writes count as refused although a proof succeeds.
   */
  async #rehearse(): Promise<void> {
    for (const [script, names] of this.#denied) {
      const runs = [whole(script.rehearsal, names, []), byName(script.rehearsal, names, [])]
      const replies = await this.#connection.runTogether(runs, this.#options.timeout)
      if (!replies.some(isDenied)) this.#denied.delete(script)
    }
  }

  /** Counts the replicas by their replies within `timeout` ms, on a server that does not list them. */
  async #countFollowers(timeout: number): Promise<number> {
    const commands = [
      ['SET', keys.proof, 1],
      ['WAIT', maxFollowers, timeout],
    ] as const
    const [set, count] = await this.#connection.runTogether(commands, this.#options.timeout + timeout)
    this.#expectAnswer(set)
    this.#expectAnswer(count)
    return Number(count)
  }

  async #take(asks: readonly Ask[]): Promise<void> {
    try {
      const replies = await this.#write(asks)
      for (const [i, ask] of asks.entries()) this.#settle(ask, replies[i])
    } catch (error) {
      for (const { script, reject } of asks) reject(script === null ? error : ofChange(error))
    }
  }

  #settle(ask: Ask, reply: unknown): void {
    if (!(reply instanceof Error)) return ask.resolve(reply)
    if ((isUnknownScript(reply) || isMoved(reply)) && !ask.isAgain) {
      this.#asks.push({ ...ask, isAgain: true })
      return
    }
    const reason = reasonOf(reply)
    if (isDemoted(reply)) this.#connection.leave(reason)
    if (isDenied(reply) && ask.script !== null) this.#denied.set(ask.script, ask.keys)
    // The next check shows whether other scripts are refused, too.
    ask.reject(isReply(reply) ? this.#refuse(refusalOf(reason), reason) : new StoreDoubtful(reason))
  }

  /** Sends scripts and their proof in one piece, and returns the reply to each script. */
  async #write(asks: readonly Ask[]): Promise<readonly unknown[]> {
    const { needed, epoch } = this.#replicas
    if (needed === null || this.#settings === null) throw new StoreUntouched(unready())
    const { timeout } = this.#options
    const needsDisk = waitsForDisk(this.#settings)
    const disk = needsDisk && asks.some(({ isForDisk }) => isForDisk)
    const isWatched = disk && needsWatching(this.#settings)
    const isAsked = disk && !isWatched
    const waits = proofsOf({ disk: isAsked, needed, timeout })
    const isTry = asks.every(({ script }) => script === null)
    const proof = waits.length > 0 || isWatched || isTry ? proofCommands(waits, this.#factCommands) : []
    const { trust } = this.#options
    const { seen } = trust
    // Read before the proof, which thus covers all changes up to the mark.
    const marked = seen === null ? [] : [readingOfMark]
    const commands = [...asks.map(ask => this.#commandOf(ask)), ...marked, ...proof]
    const results = await this.#connection.runTogether(commands, timeout + (isAsked ? diskTimeout : 0))
    const [replies, proofs] = [results.slice(0, asks.length), results.slice(asks.length + marked.length)]
    if (isMoved(proofs[0])) return this.#follow(replies)
    if (proofs.length > 0) await this.#expectProof(proofs, { isAsked, isWatched, needed })
    if (this.#replicas.epoch !== epoch) throw new StoreUnreachable(unconfirmed(replaced))
    if (seen === null) return replies
    const mark = results[asks.length]
    const isConfirmed = disk || !needsDisk
    if (!isTry) return this.#trusted(replies, mark, seen, isConfirmed)
    if (isConfirmed) trust.confirm(markIn(mark), seen)
    return replies
  }

  /** Checks by the mark that the writes reached the expected store; rejects them otherwise. */
  #trusted(replies: readonly unknown[], mark: unknown, seen: Seen, isConfirmed: boolean): readonly unknown[] {
    if (mark instanceof Error) return replies.map(reply => (reply instanceof Error ? reply : mark))
    try {
      this.#options.trust.check(markIn(mark), seen, isConfirmed)
      return replies
    } catch (error) {
      if (!(error instanceof StoreDegraded)) throw error
      const { message, remedy } = error
      throw new StoreDegraded({ code: error.reason as DegradedCode, message, remedy }, false)
    }
  }

  async #expectProof(
    [set, source, ...rest]: readonly unknown[],
    { isAsked, isWatched, needed }: Wanted,
  ): Promise<void> {
    const waits = rest.slice(0, -this.#factCommands.length)
    for (const reply of [set, ...waits]) this.#expectAnswer(reply)
    if (isAsked && countIn(waits[0]) < 1) throw this.#refuse(slowDisk)
    const confirmed = needed > 0 ? countIn(waits.at(-1)) : 0
    if (confirmed < needed) throw this.#refuse(lackOf(confirmed, needed))
    const before = factsOfSource(source)
    const facts = this.#factsIn(rest.slice(-this.#factCommands.length))
    const last = isWatched ? await this.#watch(facts) : facts
    const { history } = before === null ? last : await this.#awaitAll(last, before.offset, confirmed)
    // Another history: the server was a replica in between, and may have lost earlier writes.
    if (before !== null && before.history !== history) throw new StoreUnreachable(unconfirmed(replaced))
    this.#refusal = this.#denied.size > 0 ? denial : null
    if (needed > 0 && before !== null) this.#noteReach(before)
  }

  /** Waits until the server has synced what was written before, and returns its facts then. */
  async #watch(before: ServerFacts): Promise<ServerFacts> {
    const { timeout, clock } = this.#options
    const commands = [['SET', keys.proof, 1], ['INFO', 'persistence'], ...this.#factCommands] as const
    let facts = before
    const isSyncing = async () => {
      const [set, info, ...replies] = await this.#connection.runTogether(commands, timeout)
      this.#expectAnswer(set)
      facts = this.#factsIn(replies)
      return isSyncingIn(info)
    }
    const end = clock.monotonic() + timeout + diskTimeout
    if (await outwaitSync(isSyncing, { clock, end })) return facts
    throw this.#refuse(slowDisk)
  }

  /** Waits for lagging replicas, and for those that may be promoted since the proof was asked for. */
  async #awaitAll(before: ServerFacts, offset: number, confirmed: number): Promise<ServerFacts> {
    const { timeout, clock } = this.#options
    const end = clock.monotonic() + timeout / 2
    let facts = before
    while (!this.#replicas.haveAll(facts.replicas ?? [], { offset, confirmed })) {
      if (clock.monotonic() > end) throw this.#refuse('a replica that could become the primary is behind')
      facts = await this.#awaitStragglers(facts)
    }
    return facts
  }

  /** Records the reach of the proof before, since others may have written between the two. */
  #noteReach({ history, offset }: ServerFacts): void {
    if (history === null) return
    this.#proved = this.#reached?.history === history ? this.#reached : null
    this.#reached = { history, offset }
  }

  /** Sends a script whole the first time, so that it runs in the same batch. */
  #commandOf({ script, keys: names, args, isAgain }: Ask): Command {
    if (script === null) return ['EXISTS', keys.format]
    const isKnown = this.#sentScripts.has(script) && !isAgain
    this.#sentScripts.add(script)
    return isKnown ? byName(script, names, args) : whole(script, names, args)
  }

  /** Lets the driver learn where the keys are now, and queues what was not done for a retry. */
  async #follow(replies: readonly unknown[]): Promise<readonly unknown[]> {
    await this.#connection.run(['GET', keys.format])
    return replies.map(reply => (isMoved(reply) ? reply : unconfirmed()))
  }

  async #awaitStragglers({ replicas }: ServerFacts): Promise<ServerFacts> {
    const all = replicas?.length ?? 0
    const commands = [
      ['EXISTS', keys.format] as const,
      ['WAIT', all, stragglerTimeout] as const,
      ...this.#factCommands,
    ]
    const replies = await this.#connection.runTogether(commands, this.#options.timeout)
    return this.#factsIn(replies.slice(2))
  }

  #factsIn(replies: readonly unknown[]): ServerFacts {
    const facts = factsOf(replies)
    if (facts?.role === 'primary') {
      this.#hasLost ||= isShort(facts.former, this.#proved)
      return facts
    }
    const reason = new NotPrimary()
    this.#connection.leave(reason)
    throw new StoreUnreachable(reasonOf(reason))
  }

  #expectAnswer(reply: unknown): void {
    if (!(reply instanceof Error)) return
    const reason = reasonOf(reply)
    if (isDemoted(reply)) this.#connection.leave(reason)
    throw isReply(reply) ? this.#refuse(refusalOf(reason), reason) : new StoreUnreachable(reason)
  }

  #refuse(refusal: string, reason = unconfirmed(refusal)): StoreUnreachable {
    this.#refusal = refusal
    return new StoreUnreachable(reason)
  }
}

/** Whether a history was continued from a point before the one that it was proved to have reached. */
function isShort(former: Reach | null, proved: Reach | null): boolean {
  return former !== null && former.history === proved?.history && former.offset < proved.offset
}

/** Servers prove to each connection only its own writes, and with them all earlier ones. */
function proofCommands(waits: readonly Command[], facts: FactCommands): readonly Command[] {
  return [['SET', keys.proof, 1], facts[0], ...waits, ...facts]
}

/** WAIT replies with a number, WAITAOF with those of the server and of its replicas. */
function countIn(reply: unknown): number {
  return Number(Array.isArray(reply) ? reply[0] : reply)
}

function refusalOf({ message }: Error): string {
  return `Redis refuses them: ${message}`
}

/** The same failure where it is that of a change: one that was sent may have been made. */
function ofChange(error: unknown): unknown {
  const isSent = error instanceof StoreUnreachable && error.fault === 'unreachable' && !error.isUndone
  return isSent ? new StoreDoubtful(error.cause) : error
}

/** Written, as far as is known, but not proved to be kept: `why` names what is missing. */
function unconfirmed(why = 'UNCONFIRMED'): Error {
  return Object.assign(new Error(why), { code: 'UNCONFIRMED' })
}

/** Nothing was sent, since it is not known yet what has to confirm writes. */
function unready(): Error {
  return Object.assign(new Error('UNREADY'), { code: 'UNREADY' })
}

function ignore(): void {}
