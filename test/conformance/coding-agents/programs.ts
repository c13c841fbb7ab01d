// The coding agents as published, for tests: installs them once into a cache of this folder, since together they need 800 MB, and runs them headless
// where they reach nothing but loopback.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, connect, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { TestContext } from 'node:test'
import { root } from '../../help/source.ts'

const folder = process.env.AGENTS_CACHE || join(root, 'node_modules/.cache/coding-agents')

export interface CodingAgent {
  readonly name: string
  readonly package: string
  readonly version: string
  /** Names another place of the program. */
  readonly variable: string
  /** Below node_modules; npm chooses the package of the platform. */
  readonly program: string
}

export const claudeCode: CodingAgent = {
  name: 'Claude Code',
  package: '@anthropic-ai/claude-code',
  version: '2.1.332',
  variable: 'CLAUDE_CODE',
  program: '@anthropic-ai/claude-code-*/claude{,.exe}',
}

export const codex: CodingAgent = {
  name: 'Codex',
  package: '@openai/codex',
  version: '0.171.0',
  variable: 'CODEX',
  program: '@openai/codex-*/vendor/*/bin/codex{,.exe}',
}

const minutes = 5

/** Installs the agents that are missing. */
function installAgents(): void {
  const missing = [claudeCode, codex].filter(agent => programOf(agent) === null)
  if (missing.length === 0) return
  const dependencies = Object.fromEntries(
    [claudeCode, codex].map(({ package: npm, version }) => [npm, version]),
  )
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies }))
  console.error(
    `Installing ${missing.map(({ name }) => name).join(' and ')} into ${folder}, which takes 800 MB.`,
  )
  // Without `npm_*`, which would have it install into the project.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')))
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--silent']
  spawnSync('npm', ['install', '--prefix', folder, ...options], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: minutes * 60_000,
  })
}

function lackOf({ name, package: npm, version, variable }: CodingAgent): string {
  return `${name} is missing: install ${npm}@${version}, or name its path in ${variable}.`
}

function programOf({ package: npm, version, variable, program }: CodingAgent): string | null {
  const named = process.env[variable]
  if (named) return named
  const [found] = globSync(join(folder, 'node_modules', program))
  return found !== undefined && versionAt(join(folder, 'node_modules', npm)) === version ? found : null
}

function versionAt(folder: string): string | null {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version
  } catch {
    return null
  }
}

export interface AgentRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface AgentSettings {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Of the gateway, at 127.0.0.1: all that the agent may reach. */
  readonly port: number
  /** Its home and its working folder. */
  readonly home: string
  readonly cwd: string
  /** Whether it runs in a network namespace of its own if the machine allows that; by default, it does. */
  readonly isIsolated?: boolean
}

/** Runs an agent to its end. Without a namespace, a proxy stands for the Internet, and an agent that calls it fails the test. */
export async function runAgent(
  t: TestContext,
  agent: CodingAgent,
  { args, env, port, home, cwd, isIsolated = true }: AgentSettings,
): Promise<AgentRun> {
  installAgents()
  const program = programOf(agent)
  if (program === null) throw new Error(lackOf(agent))
  const own = { PATH: process.env.PATH ?? '', HOME: home, LANG: 'C.UTF-8', ...env }
  if (isIsolated && hasNamespaces()) {
    const socket = await relay(t, port)
    const inside = [join(import.meta.dirname, 'loopback-alone.ts'), socket, `${port}`, program, ...args]
    return run('unshare', ['-rn', process.execPath, ...inside], { env: own, cwd })
  }
  const proxy = await startProxy(t)
  const proxies = {
    HTTP_PROXY: proxy.url,
    HTTPS_PROXY: proxy.url,
    ALL_PROXY: proxy.url,
    NO_PROXY: '127.0.0.1',
  }
  const outcome = await run(program, args, { env: { ...own, ...proxies }, cwd })
  if (proxy.asked.length > 0) throw new Error(`${agent.name} called the Internet: ${proxy.asked.join(', ')}`)
  return outcome
}

function hasNamespaces(): boolean {
  return spawnSync('unshare', ['-rn', 'ip', 'link', 'set', 'lo', 'up'], { stdio: 'ignore' }).status === 0
}

async function run(
  program: string,
  args: readonly string[],
  options: { readonly env: Readonly<Record<string, string>>; readonly cwd: string },
): Promise<AgentRun> {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), seconds * 1_000)
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  clearTimeout(timer)
  return { code, stdout, stderr }
}

const seconds = 60

/** Listens on a socket of the file system, which namespaces of networks share, for connections to this port. */
async function relay(t: TestContext, port: number): Promise<string> {
  const place = mkdtempSync(join(tmpdir(), 'gatehouse-relay-'))
  const socket = join(place, 'gateway')
  const server = createServer(inner => {
    const outer = connect(port, '127.0.0.1')
    inner.pipe(outer).pipe(inner)
    inner.on('error', () => outer.destroy())
    outer.on('error', () => inner.destroy())
  })
  server.listen(socket)
  await once(server, 'listening')
  t.after(() => {
    server.close()
    rmSync(place, { recursive: true })
  })
  return socket
}

/** A proxy that serves nobody, and keeps the first lines of what it is asked for. */
async function startProxy(
  t: TestContext,
): Promise<{ readonly url: string; readonly asked: readonly string[] }> {
  const asked: string[] = []
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', data => {
      asked.push(`${data}`.split('\r\n')[0]!)
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n')
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}
