// Fills a folder with the compiled code of the package: `node build/fill-cache.ts PACKAGE FOLDER` starts the program, with and without a worker, has it serve
// a request, and stops it. Node takes what it finds there only for its own release, its flags and this kind of processor.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

const [program = '', cache = ''] = process.argv.slice(2).map(path => resolve(path))
const main = join(program, 'main.js')
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-cache-'))
const config = join(folder, 'gatehouse.yaml')
const env = {
  ...process.env,
  GATEHOUSE_DATA: join(folder, 'data'),
  // What was compiled is found again wherever both folders are moved together.
  XDG_CACHE_HOME: cache,
  NODE_COMPILE_CACHE: undefined,
  NODE_COMPILE_CACHE_PORTABLE: '1',
}

const origin = createServer((_, response) => response.end()).listen(0, '127.0.0.1')
await once(origin, 'listening')
try {
  for (const workers of [0, 1]) await serveOnce(workers)
} finally {
  origin.close()
  rmSync(folder, { recursive: true })
}

async function serveOnce(workers: number): Promise<void> {
  const { port } = origin.address() as AddressInfo
  writeFileSync(
    config,
    `listen: ['127.0.0.1:0']
admin: 127.0.0.1:0
workers: ${workers}
pools: { main: { origins: ['http://127.0.0.1:${port}'] } }
zones: [{ hosts: ['127.0.0.1'], routes: [{ path: /, pool: main }] }]
`,
  )
  const gateway = spawn(process.execPath, [main, 'start', '--config', config], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(gateway, 'exit')
  const complaint = text(gateway.stderr)
  let isServed = false
  for await (const line of createInterface({ input: gateway.stdout })) {
    const { msg, edge } = JSON.parse(line)
    if (msg !== 'ready') continue
    const { status } = await fetch(`http://${edge[0].host}:${edge[0].port}`)
    isServed = status === 200
    if (workers === 0) spawnSync(process.execPath, [main, 'health', '--running'], { env })
    gateway.kill()
  }
  const [code] = await exited
  if (!isServed || code !== 0)
    throw new Error(`the gateway did not serve and stop: ${code} ${await complaint}`)
}
