// One worker process as the supervisor sees it: requests with replies, its last counts, and its end.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import type { Server } from 'node:net'
import { extname } from 'node:path'
import type { Interface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { ListeningSocket, SocketHandle } from '../../net/socket/listening-socket.ts'
import type { Snapshot } from '../../metrics/metrics.ts'
import type { AnnouncedKey } from '../../store/cache/announced-keys.ts'
import type { Seen } from '../../store/contract/mark.ts'
import type { Tally } from '../../store/records/tally.ts'
import type { Loan } from '../../store/cache/cache-handover.ts'
import type { BanNews } from '../../access/bans/bans.ts'
import type { ShareClaim, ShareRequest } from '../../edge/accept/connection-share.ts'
import { blockedStack, errorLines, inspectable } from './blocked-stack.ts'
import {
  type Ask,
  type FromWorker,
  numericLog,
  type Reply,
  type SocketPlace,
  type ToWorker,
} from './messages.ts'
import type { ShareHolder } from './share-ledger.ts'
import type { Acceptor } from './shared-sockets.ts'

export interface WorkerEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export class Unanswered extends Error {}

interface Heard {
  refused(refusals: BanNews): void
  found(keys: readonly AnnouncedKey[], by: WorkerHandle): void
  counted(tallies: readonly Tally[]): void
  borrow(key: AnnouncedKey, by: WorkerHandle): Promise<Loan | null>
  wants(request: ShareRequest, by: WorkerHandle): void
  doubts(seen: Seen): void
  bound(socket: ListeningSocket): void
  wrote(line: string, by: WorkerHandle): void
}

// Like this file, it is JavaScript in the published package.
const usualProgram = fileURLToPath(new URL('./edge-worker.ts', import.meta.url)).replace(
  /\.ts$/,
  extname(import.meta.url),
)

interface WorkerSettings {
  readonly snapshotTimeout: number
  readonly isNumeric: boolean
  readonly program: string | undefined
}

export class WorkerHandle implements Acceptor, ShareHolder {
  readonly slot: number
  readonly #child: ChildProcess
  readonly #errors: Interface
  readonly #heard: Heard
  readonly #snapshotTimeout: number
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>()
  readonly ended: Promise<WorkerEnd>
  #nextId = 0
  #missed = 0
  #last: Snapshot | null = null

  /** Throws if the system cannot start another process. */
  constructor(
    slot: number,
    heard: Heard,
    { snapshotTimeout, isNumeric, program = usualProgram }: WorkerSettings,
  ) {
    this.slot = slot
    this.#heard = heard
    this.#snapshotTimeout = snapshotTimeout
    this.#child = start(program, isNumeric ? [numericLog] : [])
    this.#errors = errorLines(this.#child, line => heard.wrote(line, this))
    this.#child.on('message', (message, handle: unknown) =>
      this.#receive(message as FromWorker, handle as SocketHandle),
    )
    const ended = Promise.withResolvers<WorkerEnd>()
    this.#child.once('exit', (code, signal) => ended.resolve({ code, signal }))
    this.#child.once('error', () => ended.resolve({ code: null, signal: null }))
    this.ended = ended.promise
    void this.ended.then(() => this.#giveUp())
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  get last(): Snapshot | null {
    return this.#last
  }

  /** Rejects with the worker's own sentence, or as unanswered when it ends before it has replied. */
  ask<A extends Ask>(ask: A, handle?: SocketHandle): Promise<Reply<A['kind']>> {
    const id = this.#nextId++
    const answer = Promise.withResolvers<unknown>()
    this.#waiting.set(id, answer)
    this.#child.send({ id, ask } satisfies ToWorker, handle as Server | undefined, {}, error => {
      if (error) this.#settle(id)?.reject(new Unanswered(error.message))
    })
    return answer.promise as Promise<Reply<A['kind']>>
  }

  give({ handle, ...place }: ListeningSocket): void {
    this.ask({ kind: 'socket', place }, handle).catch(() => {})
  }

  adopt({ handle, ...place }: ListeningSocket): void {
    this.ask({ kind: 'adopt', place }, handle).catch(() => {})
  }

  release(place: SocketPlace): void {
    this.ask({ kind: 'release', place }).catch(() => {})
  }

  grant(key: string, count: number): void {
    this.ask({ kind: 'grant', key, count }).catch(() => {})
  }

  claim(claim: ShareClaim): Promise<number> {
    return this.ask({ kind: 'claim', claim })
  }

  /** Like `ask`, but kills the worker when it has not replied within `timeout` ms. */
  async demand<A extends Ask>(ask: A, timeout: number): Promise<Reply<A['kind']>> {
    const late = setTimeout(() => this.kill(), timeout)
    return this.ask(ask).finally(() => clearTimeout(late))
  }

  ping(): number {
    const answered = () => {
      this.#missed = 0
    }
    this.ask({ kind: 'ping' }).then(answered, answered)
    return this.#missed++
  }

  stack(timeout: number): Promise<string | null> {
    return blockedStack(this.#child, this.#errors, timeout)
  }

  /** Returns the last counts if the worker does not reply in time. */
  async snapshot(): Promise<Snapshot | null> {
    const timeout = AbortSignal.timeout(this.#snapshotTimeout)
    const late = once(timeout, 'abort').then(() => null)
    const fresh = await Promise.race([this.ask({ kind: 'snapshot' }).catch(() => null), late])
    return (this.#last = fresh ?? this.#last)
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  #receive(message: FromWorker, handle: SocketHandle): void {
    if ('last' in message) this.#last = message.last
    else if ('refusals' in message) this.#heard.refused(message.refusals)
    else if ('found' in message) this.#heard.found(message.found, this)
    else if ('tallies' in message) this.#heard.counted(message.tallies)
    else if ('wants' in message) this.#heard.wants(message.wants, this)
    else if ('doubts' in message) this.#heard.doubts(message.doubts)
    else if ('bound' in message) this.#heard.bound({ ...message.bound, handle })
    else if ('borrow' in message) void this.#borrow(message.borrow, message.as)
    else if ('error' in message) this.#settle(message.id)?.reject(new Error(message.error))
    else this.#settle(message.id)?.resolve(message.value)
  }

  async #borrow(key: AnnouncedKey, id: number): Promise<void> {
    const loan = await this.#heard.borrow(key, this)
    this.ask({ kind: 'lent', id, loan }).catch(() => {})
  }

  #giveUp(): void {
    for (const { reject } of this.#waiting.values()) reject(new Unanswered('the worker ended'))
    this.#waiting.clear()
  }

  #settle(id: number): PromiseWithResolvers<unknown> | undefined {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    return waiting
  }
}

/** It inherits the environment and the log, and gets the rest with the first message. */
function start(program: string, args: readonly string[]): ChildProcess {
  // A subfolder of this cache: a worker runs other functions of the files, and only code that ran is cached.
  const NODE_COMPILE_CACHE = getCompileCacheDir()
  const child = fork(program, args, {
    serialization: 'advanced',
    execArgv: [...process.execArgv, ...inspectable],
    stdio: ['inherit', 'inherit', 'pipe', 'ipc'],
    env: { ...process.env, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) },
  })
  // Without file descriptors it has neither, and its error would come too late to be handled.
  if (child.channel && child.stderr) return child
  child.on('error', () => {})
  throw new Error('a process cannot be started: no file descriptors are left')
}
