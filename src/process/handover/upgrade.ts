// Replaces this gateway by a new process without a gap. If the new one fails in any way, this one goes on.

import { type ChildProcess, fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Server } from 'node:net'
import type { Logger } from '../../log/log.ts'
import { type Metrics, type Snapshot, sumOf } from '../../metrics/metrics.ts'
import type { LentRecord } from '../../store/cache/cache-handover.ts'
import type { FromBefore, FromNext, Inheritance } from './inheritance.ts'
import { launcherVariable, machineClock, upgradeVariable } from './inheritance.ts'
import { isMainOfContainer } from '../system/container.ts'
import type { UpgradeReport } from './command-reports.ts'
import { version } from '../system/version.ts'

/** In ms. */
interface UpgradeTimeouts {
  readonly start: number
  readonly stop: number
}

const defaultTimeouts: UpgradeTimeouts = { start: 60_000, stop: 5_000 }

interface Replaceable {
  readonly settled: string | null
  readonly bequest: Inheritance
  readonly loans: readonly LentRecord[]
  makeWay(): void
  /** Restores what the next one may have overwritten. */
  goOn(): Promise<void>
  snapshots(): Promise<readonly Snapshot[]>
}

interface UpgradeParts {
  readonly gateway: Replaceable
  readonly log: Logger
  readonly upgrades: Metrics['upgrades']
  readonly env: () => NodeJS.ProcessEnv
  /** Receives the process that serves from now on, before that process knows it itself. */
  readonly succeeded: (pid: number) => void
  /** Resolves once the previous gateway has sent its final counts. */
  readonly countedBefore?: () => Promise<void>
  readonly timeouts?: UpgradeTimeouts
  readonly start?: (env: NodeJS.ProcessEnv) => ChildProcess
}

export class Upgrade {
  readonly #parts: UpgradeParts
  readonly #timeouts: UpgradeTimeouts
  #next: ChildProcess | null = null
  #version: string | null = null
  #isDone = false

  constructor(parts: UpgradeParts) {
    this.#parts = parts
    this.#timeouts = parts.timeouts ?? defaultTimeouts
  }

  async begin(): Promise<string | UpgradeReport> {
    const { log, upgrades, gateway } = this.#parts
    const begun = performance.now()
    const obstacle = this.#next === null ? (gateway.settled ?? obstacleHere()) : underWay
    if (obstacle !== null) {
      log.warn({ reason: obstacle }, 'upgrade refused')
      return obstacle
    }
    const next = this.#start()
    if (next instanceof Error) return this.#failed(cannotStart(next))
    log.info({ next: next.pid }, 'upgrade started')
    const reason = await this.#outcome(next)
    if (reason !== null) {
      await this.#abandon(next)
      return this.#failed(reason)
    }
    upgrades.success.inc()
    const seconds = Math.round(performance.now() - begun) / 1000
    await this.#makeWay(next)
    return {
      before: { pid: process.pid, version },
      after: { pid: next.pid!, version: this.#version },
      seconds,
    }
  }

  abort(): void {
    if (!this.#isDone) this.#next?.kill('SIGTERM')
  }

  /** Passes on the final counts of this gateway and the previous one, which may outlive this one. */
  async close(): Promise<void> {
    if (!this.#isDone) return
    await this.#parts.countedBefore?.()
    await this.#sendCounts()
    if (this.#next!.connected) this.#next!.disconnect()
  }

  /** Returns the error if the system cannot start another process. */
  #start(): ChildProcess | Error {
    const { start = startNext, env } = this.#parts
    try {
      return (this.#next = start({ ...env(), [upgradeVariable]: '1' }))
    } catch (cause) {
      return cause as Error
    }
  }

  #failed(reason: string): string {
    this.#parts.upgrades.failure.inc()
    this.#parts.log.error({ reason }, 'upgrade failed, the running gateway continues')
    return reason
  }

  #outcome(next: ChildProcess): Promise<string | null> {
    const { promise, resolve } = Promise.withResolvers<string | null>()
    const { start } = this.#timeouts
    const timer = setTimeout(resolve, start, `the new gateway was not ready within ${start / 1000} s`)
    next.on('error', error => resolve(cannotStart(error)))
    next.on('exit', (code, signal) =>
      resolve(`the new gateway ended with ${signal ?? `code ${code}`} before it was ready`),
    )
    next.on('message', (message: FromNext | null) => {
      // The program on disk may be any by now.
      if (message === null) return
      if (message.kind === 'hello') {
        this.#version = typeof message.version === 'string' ? message.version : null
        void this.#bequeath()
      } else if (message.kind === 'ready') resolve(null)
      else if (message.kind === 'failed') resolve(message.reason)
      else if (message.kind === 'count') void this.#sendCounts()
    })
    return promise.finally(() => clearTimeout(timer))
  }

  async #bequeath(): Promise<void> {
    const { edge, admin, secret } = this.#parts.gateway.bequest
    for (const { handle, ...socket } of edge) await this.#send({ kind: 'edge', socket }, handle)
    if (admin !== null) {
      const { handle, ...socket } = admin
      await this.#send({ kind: 'admin', socket }, handle)
    }
    // From its first response on, no counter is less than it was here, even if this process is killed.
    await this.#sendCounts()
    await this.#sendLoans()
    await this.#send({ kind: 'start', secret: secret!.toString('base64url') })
  }

  async #makeWay(next: ChildProcess): Promise<void> {
    this.#isDone = true
    this.#parts.log.info({ next: next.pid }, 'upgraded: the new gateway serves')
    this.#parts.succeeded(next.pid!)
    this.#parts.gateway.makeWay()
    await this.#sendCounts()
    await this.#sendLoans()
    await this.#send({ kind: 'left' })
    // It outlives this process.
    next.unref()
    next.channel?.unref()
  }

  async #abandon(next: ChildProcess): Promise<void> {
    await ended(next, this.#timeouts.stop)
    this.#next = null
    await this.#parts.gateway.goOn()
  }

  async #sendCounts(): Promise<void> {
    await this.#send({ kind: 'counts', counts: await sumOf(await this.#parts.gateway.snapshots()) })
  }

  /** While the store is unreachable, the next one has no other source of tokens. */
  async #sendLoans(): Promise<void> {
    const [at, { loans }] = [machineClock(), this.#parts.gateway]
    for (let from = 0; from < loans.length; from += maxLoans)
      await this.#send({ kind: 'loans', at, records: loans.slice(from, from + maxLoans) })
  }

  #send(message: FromBefore, handle?: unknown): Promise<void> {
    const next = this.#next
    return new Promise(resolve => {
      if (next?.connected) next.send(message, handle as Server, {}, () => resolve())
      else resolve()
    })
  }
}

/** Records per message, so that requests are served in between. */
const maxLoans = 500

const underWay = 'an upgrade is under way'

function cannotStart({ message }: Error): string {
  return `the new gateway cannot be started: ${message}`
}

function obstacleHere(): string | null {
  return isMainOfContainer() ? 'the container would end with this process; replace the container' : null
}

/** Of the files open here the new process inherits only those of the log. */
function startNext(env: NodeJS.ProcessEnv): ChildProcess {
  const [, program, ...args] = process.argv
  return fork(
    env[launcherVariable] ?? program!,
    args.filter(argument => argument !== '--replace'),
    { env, execPath: nodeOnDisk(), stdio: ['inherit', 'inherit', 'inherit', 'ipc'] },
  )
}

/** By its path as written: if that is a link, it may lead to another Node by now. */
function nodeOnDisk({ argv0, execPath } = process): string {
  return argv0.includes('/') && existsSync(argv0) ? argv0 : execPath
}

async function ended(child: ChildProcess, timeout: number): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  const { promise, resolve } = Promise.withResolvers<void>()
  child.once('exit', () => resolve())
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), timeout)
  await promise
  clearTimeout(timer)
}
