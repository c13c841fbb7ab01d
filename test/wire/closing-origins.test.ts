// Origins that close a kept connection after a few answers, as most do sooner or later: no idempotent request may fail for it, and no member be blamed.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createServer, type SecureVersion } from 'node:tls'
import { selfSigned } from '../../src/process/demo/self-signed.ts'
import { type EdgeSettings, type Member, startEdge } from '../help/edge.ts'
import { ok, type Script, startOrigin } from '../help/origin.ts'
import { post, request, Wire } from '../help/raw.ts'
import { thorough } from '../help/thorough.ts'

const ANSWERS = 5
const CLIENTS = 12
const REQUESTS = 50

type Close = (wire: Wire) => void
const closes: Record<string, Close> = {
  FIN: wire => wire.socket.end(),
  RST: wire => wire.reset(),
}

/** Answers so many requests, and closes right behind the last answer. */
function closing(close: Close, isAnnounced: boolean): Script {
  return async wire => {
    for (let i = 1; i <= ANSWERS; i++) {
      const { target } = await wire.request()
      if (target.startsWith('/from')) wire.socket.write(redirect(target.slice('/from'.length) || '/'))
      else wire.socket.write(i === ANSWERS && isAnnounced ? ok('whole', 'Connection: close') : ok('whole'))
    }
    close(wire)
  }
}

function redirect(location: string): string {
  return `HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 4\r\n\r\ngone`
}

const pools: Record<string, { readonly members: number; readonly settings: EdgeSettings }> = {
  'one member': { members: 1, settings: { pool: { retries: { most: 0, budget: 0 } } } },
  'one member under a cap': {
    members: 1,
    settings: {
      transport: { connections: 3, queue: { size: CLIENTS - 3, timeout: 20_000 } },
      pool: { retries: { most: 0, budget: 0 } },
    },
  },
  'one member of one connection': {
    members: 1,
    settings: {
      transport: { connections: 1, queue: { size: CLIENTS - 1, timeout: 20_000 } },
      pool: { retries: { most: 0, budget: 0 } },
    },
  },
  'three members': { members: 3, settings: { pool: { retries: { most: 0, budget: 0 } } } },
}

/** Sends requests on connections that are kept, one after the other on each, and counts the answers that are not whole. */
async function failuresOf(
  t: TestContext,
  start: () => Promise<Member>,
  pool: keyof typeof pools,
  asked: string[],
) {
  const { members, settings } = pools[pool]!
  const origins = await Promise.all(Array.from({ length: members }, start))
  const edge = await startEdge(t, origins, { route: { redirects: 3 }, ...settings })
  const failures: string[] = []
  const runClient = async () => {
    const client = await edge.connect()
    for (let i = 0; i < REQUESTS; i++) {
      await client.send(asked[i % asked.length]!)
      const { startLine, text } = await client.response()
      if (text !== 'whole') failures.push(startLine)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, runClient))
  const blamed = edge.plane.snapshot.pools.named[0]!.members.filter(({ health }) => health.failures > 0)
  assert.equal(blamed.length + edge.metrics.ejections.value, 0)
  return failures
}

for (const [how, close] of Object.entries(closes)) {
  for (const isAnnounced of [false, true]) {
    for (const pool of Object.keys(pools)) {
      const what = `${how} ${isAnnounced ? 'that is announced' : 'out of the blue'} behind every fifth answer`
      test(`a ${what} of ${pool} costs no idempotent request`, async t => {
        const asked = [request('GET /'), request('DELETE /'), post('/', 'small').replace('POST', 'PUT')]
        const start = async () => (await startOrigin(t, closing(close, isAnnounced))).url
        assert.deepEqual(await failuresOf(t, start, pool, asked), [])
      })
    }
  }
}

for (const [how, close] of Object.entries(closes)) {
  test(`a ${how} behind every fifth answer, redirects among them, costs no request that follows them`, async t => {
    const asked = [request('GET /from'), request('GET /from/from/from'), request('GET /')]
    const start = async () => (await startOrigin(t, closing(close, false))).url
    assert.deepEqual(await failuresOf(t, start, 'one member', asked), [])
  })
}

for (const version of thorough(['TLSv1.2', 'TLSv1.3'] as const, ['TLSv1.3'] as const)) {
  for (const pool of Object.keys(pools)) {
    test(`a FIN behind every fifth answer over ${version} of ${pool} costs no idempotent request`, async t => {
      assert.deepEqual(await failuresOf(t, () => startTls(t, version), pool, [request('GET /')]), [])
    })
  }
}

const identity = selfSigned('localhost')

/** Starts an origin behind TLS of one version. */
async function startTls(t: TestContext, version: SecureVersion): Promise<Member> {
  const server = createServer({ ...identity, minVersion: version, maxVersion: version })
  const script = closing(closes.FIN!, false)
  server.on('secureConnection', socket => {
    t.after(() => socket.destroy())
    Promise.resolve(script(new Wire(socket), 0)).catch(() => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, tls: { ca: identity.cert } }
}
