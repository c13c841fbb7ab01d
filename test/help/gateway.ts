// Runs the gateway as an operator does, in a process of its own, for tests of whole journeys.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { quickFolder } from './quick-folder.ts'
import { root } from './source.ts'

/** The program as its sources. */
export const sources = join(root, 'src/main.ts')

/** The program that tests start: the package where PROGRAM_UNDER_TEST names it, which starts in half the time, or else the sources. */
export const main = process.env.PROGRAM_UNDER_TEST ?? sources

/** Put in NODE_OPTIONS, has every process of the gateway throw at SIGURG, and hang at SIGWINCH: bugs that a test can call for. */
export const provokable = `--import=data:text/javascript,process.on('SIGURG',()=>{throw(new(Error)('provoked'))}),process.on('SIGWINCH',function%20hang(){for(;;);})`

export interface LogLine {
  readonly msg: string
  readonly [member: string]: unknown
}

export interface GatewayOptions {
  readonly command?: 'start' | 'demo'
  /** What it starts, by default `main`. */
  readonly program?: string
  readonly env?: NodeJS.ProcessEnv
}

/** Writes the configuration to a file of its own, with free ports on loopback unless it names some. */
export function writeConfig(t: TestContext, yaml: string): string {
  const file = join(quickFolder(t, 'run'), 'gatehouse.yaml')
  writeFileSync(file, withPorts(yaml))
  return file
}

/** Adds what most configurations of tests share. */
function withPorts(yaml: string): string {
  return /^listen:/m.test(yaml) ? yaml : `listen: ['127.0.0.1:0']\nadmin: 127.0.0.1:0\n${yaml}`
}

/** Starts a gateway from the configuration and waits until it is ready; it is killed after the test, should it still run. */
export function startGateway(
  t: TestContext,
  yaml: string,
  options: GatewayOptions = {},
): Promise<RunningGateway> {
  const { command = 'start', program = main, env } = options
  const file = writeConfig(t, yaml)
  const data = { GATEHOUSE_DATA: join(dirname(file), 'data') }
  return spawnGateway(
    t,
    [program, command, '--config', file],
    { env: { ...process.env, ...data, ...env } },
    file,
  )
}

/** Starts Node, by another program if one is given, with arguments that make it a gateway, and waits until it is ready. */
export async function spawnGateway(
  t: TestContext,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env: NodeJS.ProcessEnv },
  file = '',
  by: readonly string[] = [],
): Promise<RunningGateway> {
  const [program, ...all] = [...by, process.execPath, ...args]
  const child = spawn(program!, all, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  const gateway = new RunningGateway(child, file)
  await gateway.ready()
  return gateway
}

/** As it is before a test mocks it. */
const { setTimeout, clearTimeout } = globalThis

export class RunningGateway {
  readonly lines: LogLine[] = []
  readonly exited: Promise<{ code: number | null; signal: NodeJS.Signals | null }>
  /** All that it wrote to stderr, once it has exited. */
  readonly stderr: Promise<string>
  /** The account, the token and the set-up link that it made, where its store was empty. */
  readonly firstStart: Promise<FirstStart>
  readonly file: string
  readonly #child: ChildProcess
  readonly #news = new EventEmitter()
  edge = ''
  admin = ''

  constructor(child: ChildProcess, file: string) {
    this.#child = child
    this.file = file
    this.stderr = text(child.stderr!)
    this.firstStart = firstStartIn(child)
    this.exited = once(child, 'close').then(([code, signal]) => ({ code, signal }))
    createInterface({ input: child.stdout! }).on('line', line => {
      this.lines.push(JSON.parse(line))
      this.#news.emit('line')
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  async ready(): Promise<void> {
    const failed = this.exited.then(async () =>
      assert.fail(`the gateway did not start: ${await this.stderr}`),
    )
    const { edge, admin } = (await Promise.race([this.logged('ready'), failed])) as unknown as Endpoints
    this.edge = `http://${edge[0]!.host}:${edge[0]!.port}`
    this.admin = `http://${admin.host}:${admin.port}`
  }

  /** Returns the first line of the log with this message that fits, as soon as it is written; fails after two minutes, or when all processes have ended, with the last lines. */
  async logged(msg: string, fits: (line: LogLine) => boolean = () => true): Promise<LogLine> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, 120_000)
    let isOver = false
    const over = Promise.race([late, this.exited]).then(() => {
      isOver = true
    })
    try {
      for (;;) {
        const line = this.lines.find(line => line.msg === msg && fits(line))
        if (line) return line
        if (isOver) assert.fail(`no line ${JSON.stringify(msg)} came in the log, but\n${this.#lastLines}`)
        await Promise.race([once(this.#news, 'line'), over])
      }
    } finally {
      clearTimeout(timer)
    }
  }

  get #lastLines(): string {
    return this.lines
      .slice(-10)
      .map(line => JSON.stringify(line))
      .join('\n')
  }

  rewrite(yaml: string): void {
    writeFileSync(this.file, withPorts(yaml))
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async metrics(): Promise<string> {
    return (await fetch(`${this.admin}/metrics`)).text()
  }
}

/** Reads what a first start tells; never settles where there is none. */
function firstStartIn(child: ChildProcess): RunningGateway['firstStart'] {
  const { promise, resolve } = Promise.withResolvers<FirstStart>()
  let told = ''
  child.stderr!.on('data', (bytes: Buffer) => {
    told += bytes
    const [, account, token, setUp = null] = facts.exec(told) ?? []
    if (account !== undefined && token !== undefined) resolve({ account, token, setUp })
  })
  return promise
}

/** All of the line: its end may come later. */
const facts = /"account":"([0-9a-f]{32})".*"token":"(svct_[^"]+)"(?:,"set_up":"([^"]+)")?.*\n/

interface FirstStart {
  readonly account: string
  readonly token: string
  readonly setUp: string | null
}

interface Endpoints {
  readonly edge: readonly { readonly host: string; readonly port: number }[]
  readonly admin: { readonly host: string; readonly port: number }
}
