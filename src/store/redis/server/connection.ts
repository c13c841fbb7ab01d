// A connection that never blocks its callers: a command gets its reply in time or rejects as unreachable, and
// only the first waits for a server that hangs. Only a primary, checked every second, counts as reachable.

import { inTime } from '../../../base/turns/in-time.ts'
import { StoreUnreachable, StoreUntouched } from '../../contract/store.ts'
import { type Argument, type Client, type Command, pauseBefore } from './connect.ts'
import type { Address } from './address.ts'
import {
  isDemoted,
  isDenied,
  isMoved,
  isReply,
  isUnknownCommand,
  Late,
  NotPrimary,
  reasonOf,
  tooLate,
} from './failure.ts'
import { Unfit, unfitByLoss, unfitBy, unfitDatabase } from './requirements.ts'
import { recordsQuestion } from './acl.ts'
import { keys } from './keys.ts'
import { byName, isUnknownScript, type Script, whole } from './script.ts'
import { allFacts, factsOf, fewFacts, type ServerFacts } from './server-facts.ts'

/** The data format that this version writes, and the newest that it reads. */
const knownFormat = 1
/** Ms for the handshake before dialling again: longer than a command, as bulk data may delay it. */
const greetTimeout = 1_000
/** Delay between two checks of the server, in ms. */
const period = 1_000

interface ConnectionOptions {
  readonly timeout: number
  readonly address: Pick<Address, 'kind' | 'username' | 'db'>
  /** Whether it checks the server by itself, or leaves that to its owner. */
  readonly looks: boolean
}

export interface Reader {
  run(command: Command): Promise<unknown>
  script(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<unknown>
}

export class Connection implements Reader {
  readonly #client: Client
  readonly #options: ConnectionOptions
  readonly #arrivals: (() => void)[] = []
  readonly #opening = Promise.withResolvers<void>()
  #isHere = false
  #isClosed = false
  #greeting = 0
  #failures = 0
  /** Why it is unreachable; a connection that failed is closed next, which has no reason of its own. */
  #reason: Error | null = null
  #retry: NodeJS.Timeout | undefined
  #look: NodeJS.Timeout | undefined
  #runId: string | null = null
  #unfit: Unfit | null = null
  #notifyFitness: () => void = () => {}

  constructor(client: Client, options: ConnectionOptions) {
    this.#client = client
    this.#options = options
    client.onReady(() => this.#greet())
    client.onLoss(reason => this.#fail(reason))
  }

  /** Resolves once reachability is known; rejects with a sentence if the data cannot be used. */
  get opened(): Promise<void> {
    return this.#opening.promise
  }

  get isUnreachable(): boolean {
    return !this.#isHere || this.#client.isAstray
  }

  /** Why the server is not used although it responds; null if it is. */
  get unfit(): Unfit | null {
    return this.#unfit
  }

  onFitness(listener: () => void): void {
    this.#notifyFitness = listener
  }

  get runId(): string | null {
    return this.#runId
  }

  /** How often the server was lost or left: data read in two epochs may come from two servers. */
  get epoch(): number {
    return this.#greeting
  }

  onArrival(listener: () => void): void {
    this.#arrivals.push(listener)
  }

  run(command: Command): Promise<unknown> {
    return this.#ask(() => this.#client.send(command), this.#options.timeout)
  }

  /** Like `run`, with strings in the reply as bytes. */
  runForBytes(command: Command): Promise<unknown> {
    return this.#ask(() => this.#client.sendForBytes(command), this.#options.timeout)
  }

  script(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    return this.#script(this.#client.send, script, keys, args)
  }

  /** Like `script`, with strings in the reply as bytes. */
  scriptForBytes(script: Script, keys: readonly string[], args: readonly Argument[]): Promise<unknown> {
    return this.#script(this.#client.sendForBytes, script, keys, args)
  }

  /**
   * Sends commands to the node that has the keys of the first; rejects if that one failed, and the others
   * return their errors.
   */
  async runAll(commands: readonly Command[]): Promise<readonly unknown[]> {
    return this.#ask(() => this.#client.sendAll(commands).then(firstThrown), this.#options.timeout)
  }

  /** The same, but all failed commands return their errors. */
  async runTogether(commands: readonly Command[], timeout: number): Promise<readonly unknown[]> {
    return this.#ask(() => this.#client.sendAll(commands), timeout)
  }

  /** Dials again, since another server is the primary, or none is known to be. */
  leave(reason: Error): void {
    if (this.#isHere) this.#lose(reason)
    this.#client.redial()
  }

  /** Resolves once earlier commands have their reply or were abandoned. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retry)
    this.#lose(new Error('closed'))
    await inTime(this.#client.end(), this.#options.timeout, tooLate).catch(() => this.#client.cut())
  }

  #script(
    send: Client['send'],
    script: Script,
    keys: readonly string[],
    args: readonly Argument[],
  ): Promise<unknown> {
    const run = () =>
      send(byName(script, keys, args)).catch(error => {
        if (isUnknownScript(error)) return send(whole(script, keys, args))
        throw error
      })
    return this.#ask(run, this.#options.timeout)
  }

  async #ask<T>(run: () => Promise<T>, timeout: number): Promise<T> {
    if (this.isUnreachable) throw new StoreUntouched(this.#reason)
    try {
      return await inTime(run(), timeout, tooLate)
    } catch (error) {
      if (isDemoted(error)) this.leave(new NotPrimary())
      else if (!isReply(error)) this.#doubt()
      throw new StoreUnreachable(reasonOf(error))
    }
  }

  /** Blocks all further commands until the server has proved that it is reachable. */
  #doubt(): void {
    if (!this.#isHere) return
    this.#lose(new Late())
    this.#greet()
  }

  #lose(reason?: unknown): void {
    clearTimeout(this.#look)
    this.#greeting++
    this.#isHere = false
    if (reason instanceof Error) this.#reason = reasonOf(reason)
    this.#opening.resolve()
  }

  /** Records the reason given by the driver. */
  #fail(reason?: unknown): void {
    const unfit = unfitByLoss(this.#options.address, reason)
    if (unfit !== null) return this.#refuse(unfit)
    // A rejected connection is closed without a reason, and dialled again.
    if (reason instanceof Error) this.#judge(null)
    this.#lose(reason)
  }

  async #greet(): Promise<void> {
    const greeting = ++this.#greeting
    clearTimeout(this.#retry)
    const isOver = () => greeting !== this.#greeting || this.#isClosed
    try {
      const facts = await inTime(this.#examine(), greetTimeout, tooLate)
      const format = await inTime(this.#readFormat(), greetTimeout, tooLate)
      if (isOver()) return
      if (format > knownFormat) throw newer(format)
      this.#arrive(facts)
    } catch (error) {
      if (isOver()) return
      if (error instanceof Unfit) this.#refuse(error)
      else this.#lose(error)
      this.#retry = setTimeout(() => this.#client.redial(), pauseBefore(++this.#failures))
    }
  }

  /** Rejects unless the server is a primary that meets all requirements, as far as it tells. */
  async #examine(): Promise<ServerFacts> {
    const commands = [['EXISTS', keys.format] as const, ...allFacts, recordsQuestion]
    const [first, info, hello, rights] = await this.#client.sendAll(commands)
    if (first instanceof Error && !isDenied(first) && !isUnknownCommand(first) && !isMoved(first)) throw first
    const facts = this.#factsIn([info, hello])
    const unfit = await unfitBy(this.#options.address, this.#client, { first, info, hello, rights })
    if (unfit !== null) throw unfit
    if (first instanceof Error) throw first
    if (rights instanceof Error) throw rights
    return facts
  }

  /** Rejects unless the server considers itself a primary. */
  async #readFacts(commands: readonly Command[]): Promise<ServerFacts> {
    const [formatReply, ...replies] = await this.#client.sendAll([['EXISTS', keys.format], ...commands])
    if (formatReply instanceof Error) throw formatReply
    return this.#factsIn(replies)
  }

  #factsIn(replies: readonly unknown[]): ServerFacts {
    const facts = factsOf(replies)
    if (facts?.role !== 'primary' || this.#client.isAstray) throw new NotPrimary()
    return facts
  }

  async #readFormat(): Promise<number> {
    const { send } = this.#client
    const { db } = this.#options.address
    if (db > 0) await send(['SELECT', db]).catch(error => Promise.reject(unfitDatabase(db, error)))
    const format = await send(['GET', keys.format])
    if (format !== null) return Number(format)
    await send(['SET', keys.format, knownFormat, 'NX'])
    return Number(await send(['GET', keys.format]))
  }

  #arrive({ runId }: ServerFacts): void {
    this.#judge(null)
    this.#isHere = true
    this.#reason = null
    this.#failures = 0
    this.#runId = runId
    this.#opening.resolve()
    if (this.#options.looks) this.#lookLater()
    for (const listener of this.#arrivals) listener()
  }

  #lookLater(): void {
    this.#look = setTimeout(async () => {
      const greeting = this.#greeting
      try {
        await inTime(this.#readFacts(fewFacts), greetTimeout, tooLate)
      } catch (error) {
        if (greeting !== this.#greeting) return
        if (error instanceof NotPrimary) return this.leave(error)
        if (!isReply(error)) return this.#doubt()
      }
      if (greeting === this.#greeting) this.#lookLater()
    }, period)
  }

  #refuse(unfit: Unfit): void {
    this.#opening.reject(unfit)
    this.#lose()
    this.#reason = unfit
    this.#judge(unfit)
  }

  #judge(unfit: Unfit | null): void {
    if (this.#unfit?.message === unfit?.message) return
    this.#unfit = unfit
    this.#notifyFitness()
  }
}

function newer(format: number): Unfit {
  return new Unfit(
    `the data in Redis has format ${format}, but this version of Gatehouse supports at most ${knownFormat}`,
    'Run a newer version of Gatehouse',
  )
}

function firstThrown(replies: readonly unknown[]): readonly unknown[] {
  if (replies[0] instanceof Error) throw replies[0]
  return replies
}
