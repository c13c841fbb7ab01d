// h2load through the gateway: a client of HTTP/2 that is none of ours and not Node's either, with as much under way as it may have.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer } from 'node:http2'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { Authority } from '../help/certificates.ts'
import { Edge, edgeConfig, listenAt } from '../help/edge.ts'
import { ok, startResponder } from '../help/origin.ts'

const run = promisify(execFile)
const identity = new Authority().issue(['site.test'])
const requests = 1_000

for (const http of ['1', 'h2c'] as const)
  test(`h2load gets every response, whole, from an origin of HTTP/${http}`, async t => {
    const url = http === '1' ? (await startResponder(t, ok('hello'))).url : await startH2c(t)
    const config = {
      ...edgeConfig([url], { transport: { http } }),
      listen: [{ host: '127.0.0.1', port: 0, tls: true }],
      tls: { certificates: [identity], minVersion: 'TLSv1.2' } as const,
    }
    const edge = await listenAt(t, new Edge(t, config))
    const load = ['-n', `${requests}`, '-c', '4', '-m', '100', `--connect-to=127.0.0.1:${edge.port}`]
    const { stdout } = await run(process.env.H2LOAD ?? 'h2load', [...load, 'https://site.test/'])
    assert.match(stdout, /^Application protocol: h2$/m)
    assert.match(stdout, new RegExp(`${requests} succeeded, 0 failed, 0 errored, 0 timeout`))
    assert.match(stdout, new RegExp(`^status codes: ${requests} 2xx`, 'm'))
    assert.match(stdout, new RegExp(` \\(${requests * 5}\\) data$`, 'm'))
  })

async function startH2c(t: TestContext): Promise<string> {
  const server = createServer((_, response) => void response.end('hello'))
  server.on('session', session => t.after(() => session.destroy()))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
