// Two machines on one Redis: whoever signs in at one is known at the other, and whoever signs out is nowhere.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { startGateway } from '../help/gateway.ts'
import { Jar } from '../help/jar.ts'
import { startRedis } from '../help/redis.ts'
import { busySecond } from '../help/until.ts'

const email = 'ada@example.com'
const password = 'correct horse battery'
const program = { headers: { accept: 'application/json' } }

/** A site with a page, and with an event stream and WebSockets that do not end by themselves. */
async function startSite(t: TestContext): Promise<string> {
  const server = createServer(({ url }, response) => {
    if (url !== '/events') return response.end('page')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    return response.write('data: begun\n\n')
  })
  const sockets = new WebSocketServer({ server })
  t.after(() => {
    for (const socket of sockets.clients) socket.terminate()
    server.close()
    server.closeAllConnections()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function startMachines(t: TestContext) {
  const [origin, redis] = [await startSite(t), await startRedis(t)]
  const yaml = `workers: 2
store: { url: '${redis.url}', command_timeout: 5s }
secrets: { key: ${'07'.repeat(32)} }
pools:
  app: { origins: ['${origin}'] }
zones:
  - hosts: [localhost]
    protect: { sign_in: { end_open: true } }
    routes: [{ path: /, pool: app }]
`
  const first = await startGateway(t, yaml.replace('workers: 2', 'workers: 1'))
  const { setUp } = await first.firstStart
  const second = await startGateway(t, yaml)
  const [here, there] = [first, second].map(({ edge }) => `http://localhost:${new URL(edge).port}`)
  return { setUp: setUp!, first, second, here: here!, there: there! }
}

test('a session that began at one machine is good at the other, and ends at both', async t => {
  const { setUp, second, here, there } = await startMachines(t)
  const ada = new Jar()
  await ada.send(await ada.open(setUp), { email, password })
  assert.equal((await ada.ask(there, program)).status, 401)
  assert.equal((await ada.open(here)).body, 'page')
  assert.equal((await ada.ask(there, program)).body, 'page')
  const cookie = [...ada.cookiesOf(new URL(there))].map(pair => pair.join('=')).join('; ')

  const headers = { cookie, accept: 'text/event-stream' }
  const stream = await new Promise<IncomingMessage>((resolve, reject) =>
    get(`${there}/events`, { headers, agent: false }, resolve).on('error', reject),
  )
  assert.equal(stream.statusCode, 200)
  let events = ''
  stream.setEncoding('utf8').on('data', text => {
    events += text
  })
  await once(stream, 'data')
  // Of both workers, most likely.
  const sockets = Array.from({ length: 6 }, () => new WebSocket(there, { headers: { cookie } }))
  await Promise.all(sockets.map(socket => once(socket, 'open')))

  const closed = sockets.map(async socket => {
    const [code, reason] = await once(socket, 'close')
    return [code, String(reason)]
  })
  const broken = once(stream, 'error')
  const asked = await ada.open(`${here}/cdn-cgi/sign-out`)
  const before = performance.now()
  assert.match((await ada.send(asked)).body, /You are signed out/)
  assert.equal((await broken)[0].message, 'aborted')
  assert.deepEqual(await Promise.all(closed), Array(6).fill([1008, 'no longer let in']))
  const took = performance.now() - before
  assert.ok(took < busySecond, `${took} ms`)
  assert.match(events, /event: error\ndata: .*"status":401/)
  for (const site of [here, there])
    assert.equal((await new Jar().ask(site, { headers: { ...program.headers, cookie } })).status, 401)
  assert.match(await second.metrics(), /gatehouse_gate_decisions_total\{[^}]*outcome="ended"[^}]*\} 7\n/)
  await assert.rejects(once(new WebSocket(there, { headers: { cookie } }), 'open'), /401/)
})
