// Starts the processes of a bench, and ends every one of them by its id, also when the bench fails or is interrupted.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { type Call, ROOT } from './call.ts'
import { raiseSession } from './alone.ts'
import { childrenOf } from './proc.ts'

export interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** What it prints once it can be used, where an answer on its port does not tell. */
  readonly prints?: RegExp
  /** False where nothing but what it prints tells. */
  readonly isHttp?: boolean
  /** The port of /metrics, where what it says of log entries is to be read. */
  readonly metrics?: number
}

export interface Running {
  /** The process that serves: the worker where a master only watches over it. */
  readonly pid: number
  /** The one that was started; its children are the others. */
  readonly root: number
  readonly port: number
  /** Milliseconds from the spawn to the first answer. */
  readonly startup: number
  readonly metrics: number | null
  /** Returns the beginning of what the process has printed. */
  printed(): string
  stop(): Promise<void>
}

/** The folder for generated configurations and logs; it goes when the bench ends. */
export const folder = mkdtempSync(join(tmpdir(), 'gatehouse-bench-'))

/** The folder for files that grow or change under load, which goes likewise: contestants may watch the one of their configurations. */
export const busyFolder = join(folder, 'busy')
mkdirSync(busyFolder)

/** What is read of the output of a process, after which its access log may follow. */
const beginningBytes = Buffer.alloc(4000)

const STARTUP_LIMIT = 60_000
const living = new Set<ChildProcess>()

process.on('SIGINT', () => process.exit(130))
process.on('SIGTERM', () => process.exit(143))
process.on('exit', () => {
  for (const child of living) kill(child)
  rmSync(folder, { recursive: true, force: true })
})

/** Starts a server and waits for its first answer on the port; throws with what it printed if none comes. */
export async function launch(name: string, port: number, command: Command): Promise<Running> {
  const began = performance.now()
  // A contestant may be there twice, and its access log may be long.
  const log = join(busyFolder, `${name.replaceAll('/', '-')}-${port}.log`)
  const output = openSync(log, 'a')
  const child = start(command, output)
  closeSync(output)
  while (!(hasPrinted(command, log) && (await answers(port, command)))) {
    if (child.exitCode !== null || performance.now() - began > STARTUP_LIMIT) {
      throw new Error(`${name} did not start: ${beginning(log)}`)
    }
    await wait(1)
  }
  const startup = performance.now() - began
  const pid = childrenOf(child.pid!)[0] ?? child.pid!
  const { metrics = null } = command
  const printed = () => beginning(log)
  const stopAll = async () => {
    await stop(child, command)
    rmSync(log, { force: true })
  }
  return { pid, root: child.pid!, port, startup, metrics, printed, stop: stopAll }
}

/** Runs a command to its end and returns its standard output; throws when it fails. */
export async function run(command: Command): Promise<string> {
  return begin(command).ended
}

/** A command that runs. */
export interface Begun {
  /** Sends it a signal, unless it has ended. */
  signal(name: NodeJS.Signals): void
  /** Settles with its standard output, or rejects when it fails; to end by a signal of ours is no failure. */
  readonly ended: Promise<string>
}

/** Starts a command. */
export function begin(command: Command): Begun {
  const child = start(command, 'pipe')
  const sent = new Set<NodeJS.Signals>()
  const signal = (name: NodeJS.Signals) => {
    sent.add(name)
    child.kill(name)
  }
  const ended = outputOf(command, child, sent)
  // It may fail before anybody waits for it.
  ended.catch(() => {})
  return { signal, ended }
}

async function outputOf(
  { file }: Command,
  child: ChildProcess,
  sent: ReadonlySet<NodeJS.Signals>,
): Promise<string> {
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const [output, complaint] = await Promise.all([text(child.stdout!), text(child.stderr!)])
  const [code, signal] = await ended
  if (code === 0 || (signal !== null && sent.has(signal))) return output
  throw new Error(`${file} ended with code ${code}: ${output.trim()}${complaint.trim()}`)
}

/** Returns the status that a call of a port gets, or null where no response comes within 30 seconds. */
export async function statusOf(port: number, call: Call = ROOT): Promise<number | null> {
  try {
    const { method, path, fields: headers, body } = call
    const signal = AbortSignal.timeout(30_000)
    const asked = request({ port, host: '127.0.0.1', agent: false, signal, method, path, headers }).end(body)
    const [response] = await once(asked, 'response')
    response.resume()
    return response.statusCode
  } catch {
    return null
  }
}

/** Writes a file for a process of the bench and returns its path. */
export function keep(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** Makes an empty folder for what one process of the bench keeps, which goes when that ends. */
export function emptyFolder(): string {
  return mkdtempSync(join(folder, 'data-'))
}

function start(command: Command, output: number | 'pipe'): ChildProcess {
  const child = spawn(command.file, command.args, {
    stdio: ['ignore', output, output],
    env: { ...process.env, NODE_ENV: 'production', ...command.env },
    detached: true,
  })
  if (getPriority() < 0 && child.pid !== undefined) raiseSession(child.pid)
  living.add(child)
  return child.once('exit', () => living.delete(child))
}

async function stop(child: ChildProcess, { env }: Command): Promise<void> {
  if (!living.has(child)) return
  const ended = once(child, 'exit')
  kill(child)
  await ended
  if (env?.GATEHOUSE_DATA !== undefined) rmSync(env.GATEHOUSE_DATA, { recursive: true, force: true })
}

/** Ends the whole group that a detached child leads: a master killed alone would leave its worker behind. */
function kill(child: ChildProcess): void {
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
}

async function answers(port: number, { isHttp = true }: Command): Promise<boolean> {
  return !isHttp || (await statusOf(port)) !== null
}

function hasPrinted({ prints }: Command, log: string): boolean {
  return prints === undefined || prints.test(beginning(log))
}

function beginning(log: string): string {
  const file = openSync(log, 'r')
  try {
    const length = readSync(file, beginningBytes, 0, beginningBytes.length, 0)
    return beginningBytes.toString('utf8', 0, length).trim()
  } finally {
    closeSync(file)
  }
}
