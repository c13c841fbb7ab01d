// What a gateway inherits from the one it replaces, which may be of another version: bound sockets, loans.

import type { Server } from 'node:net'
import type { ListeningSocket, SocketHandle } from '../../net/socket/listening-socket.ts'
import type { Config, Endpoint } from '../../config/model/config.ts'
import { remains, type Snapshot } from '../../metrics/metrics.ts'
import type { LentRecord } from '../../store/cache/cache-handover.ts'
import { version } from '../system/version.ts'

interface Inherited extends Endpoint, Omit<ListeningSocket, 'listener'> {
  readonly listener: number
}

interface InheritedAdmin extends Endpoint {
  readonly at: Endpoint
  readonly handle: SocketHandle
}

export interface Inheritance {
  readonly edge: readonly Inherited[]
  readonly admin: InheritedAdmin | null
  /** The secret that authenticates the edge of the previous gateway to the side port; null for none. */
  readonly secret: Buffer | null
  /** Whether the previous gateway ended before it had sent everything: the rest is bound again. */
  readonly isPartial?: boolean
}

/** Records that a gateway has cached, in their stored form; of tokens, only digests. */
interface Loans {
  readonly kind: 'loans'
  /** When the records had their stated age, by the clock of the machine. */
  readonly at: number
  readonly records: readonly LentRecord[]
}

export type FromBefore =
  | { readonly kind: 'edge'; readonly socket: Omit<Inherited, 'handle'> }
  | { readonly kind: 'admin'; readonly socket: Omit<InheritedAdmin, 'handle'> }
  | { readonly kind: 'start'; readonly secret: string }
  /** The new gateway is alone at the side port. */
  | { readonly kind: 'left' }
  | { readonly kind: 'counts'; readonly counts: Snapshot }
  | Loans

export type FromNext =
  /** Absent in older versions. */
  | { readonly kind: 'hello'; readonly version?: string }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'count' }

export const upgradeVariable = 'GATEHOUSE_UPGRADE'

/** Set by `bin/gatehouse.js` in a checkout: its own path, where sources may have changed since it chose. */
export const launcherVariable = 'GATEHOUSE_LAUNCHER'

/** Closes the sockets that the configuration does not need: their clients are refused at once. */
export function socketsFor(
  { listen }: Pick<Config, 'listen'>,
  inherited: readonly Inherited[],
): readonly ListeningSocket[] {
  const groups = [...Map.groupBy(inherited, ({ listener }) => listener).values()]
  const sockets = listen.flatMap(({ host, port }, listener) => {
    const at = groups.findIndex(([one]) => one!.host === host && one!.port === port)
    const [group = []] = at < 0 ? [] : groups.splice(at, 1)
    return group.map(({ slot, isAlone, handle }) => ({ listener, slot, isAlone, handle }))
  })
  for (const { handle } of groups.flat()) handle.close()
  return sockets
}

/** The process that is to replace another, with its channel to it. */
type Successor = Pick<NodeJS.Process, 'env' | 'on' | 'once' | 'connected' | 'send' | 'disconnect'>

export class Predecessor {
  readonly #process: Successor
  readonly #edge: Inherited[] = []
  readonly #left = Promise.withResolvers<void>()
  readonly #sent = Promise.withResolvers<Inheritance>()
  readonly #ended = Promise.withResolvers<void>()
  #admin: InheritedAdmin | null = null
  #counts: Snapshot | null = null
  #loans: Loans[] = []
  #takeLoans: ((records: readonly LentRecord[]) => void) | null = null
  #isCounting: PromiseWithResolvers<void> | null = null

  private constructor(process: Successor) {
    this.#process = process
    process.on('message', (message: FromBefore, handle: unknown) =>
      this.#receive(message, handle as SocketHandle),
    )
    process.once('disconnect', () => this.#end())
    // A channel that closes while this process loads its code emits no event.
    if (process.connected) this.#tell({ kind: 'hello', version })
    else this.#end()
  }

  /** Finds the gateway that started this process as its replacement; null for none. */
  static find(next: Successor = process): Predecessor | null {
    const { env } = next
    const isNext = env[upgradeVariable] !== undefined && next.send !== undefined
    delete env[upgradeVariable]
    return isNext ? new Predecessor(next) : null
  }

  /** Incomplete if the gateway was killed: this one is then to serve all the same, as the only one left. */
  get inheritance(): Promise<Inheritance> {
    return this.#sent.promise
  }

  /** Resolves once the previous gateway no longer accepts connections to the side port. */
  async relieve(): Promise<void> {
    this.#tell({ kind: 'ready' })
    await this.#left.promise
  }

  async fail(reason: string): Promise<void> {
    await this.#tell({ kind: 'failed', reason })
    if (this.#process.connected) this.#process.disconnect!()
  }

  async ended(timeout: number): Promise<void> {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, timeout)
    if (this.#process.connected) await Promise.race([this.#ended.promise, late.promise])
    clearTimeout(timer)
  }

  /** Within `timeout` ms, as far as it reports them: it goes on counting while it drains. */
  async counts(timeout = 1_000): Promise<readonly Snapshot[]> {
    if (this.#process.connected) {
      this.#isCounting ??= Promise.withResolvers()
      this.#tell({ kind: 'count' })
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, timeout)
      await Promise.race([this.#isCounting.promise, late.promise])
      clearTimeout(timer)
    }
    if (this.#counts === null) return []
    return this.#process.connected ? [this.#counts] : [await remains([this.#counts])]
  }

  passLoans(take: (records: readonly LentRecord[]) => void): void {
    this.#takeLoans = take
    for (const loans of this.#loans.splice(0)) take(agedUntilNow(loans))
  }

  /** It may end before it has sent everything: then what has arrived must do. */
  #end(): void {
    this.#sent.resolve({ edge: this.#edge, admin: this.#admin, secret: null, isPartial: true })
    this.#left.resolve()
    this.#isCounting?.resolve()
    this.#ended.resolve()
  }

  #receive(message: FromBefore, handle: SocketHandle): void {
    if (message.kind === 'edge') this.#edge.push({ ...message.socket, handle })
    else if (message.kind === 'admin') this.#admin = { ...message.socket, handle }
    else if (message.kind === 'start')
      this.#sent.resolve({
        edge: this.#edge,
        admin: this.#admin,
        secret: Buffer.from(message.secret, 'base64url'),
      })
    else if (message.kind === 'left') this.#left.resolve()
    else if (message.kind === 'loans') {
      if (this.#takeLoans === null) this.#loans.push(message)
      else this.#takeLoans(agedUntilNow(message))
    } else if (message.kind === 'counts') {
      this.#counts = withNumbers(message.counts)
      this.#isCounting?.resolve()
      this.#isCounting = null
    }
  }

  #tell(message: FromNext): Promise<void> {
    return new Promise(resolve => {
      if (this.#process.connected)
        this.#process.send!(message, undefined as unknown as Server, {}, () => resolve())
      else resolve()
    })
  }
}

/** Returns the monotonic clock that all processes of this machine share, in ms. */
export function machineClock(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

export function agedUntilNow({ at, records }: Loans): readonly LentRecord[] {
  const since = Math.max(0, machineClock() - at)
  return records.map(({ found: key, loan }) => ({ found: key, loan: { ...loan, age: loan.age + since } }))
}

/** JSON has no NaN. */
function withNumbers(counts: Snapshot): Snapshot {
  return counts.map(family => ({
    ...family,
    values: family.values.map(one => ({ ...one, value: one.value ?? Number.NaN })),
  }))
}
