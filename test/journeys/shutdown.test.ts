import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { main, provokable, type RunningGateway, startGateway, writeConfig } from '../help/gateway.ts'
import { beHeld, lastingPenalty } from '../help/held.ts'
import { ask, connectHttp2 } from '../help/http2-client.ts'
import { siteConfig, startSite } from '../help/site.ts'
import { thorough } from '../help/thorough.ts'
import { until } from '../help/until.ts'

/** Starts a gateway with one request under way; the origin answers when the test says so. */
async function startWithRequest(t: TestContext, more = '') {
  const asked = new Map<string, ServerResponse>()
  const origin = await startSite(t, ({ url }, response) => void asked.set(url!, response))
  const gateway = await startGateway(t, siteConfig(origin, more))
  const response = fetch(gateway.edge)
  const answer = response.then(response => response.text())
  answer.catch(() => {})
  await until(() => asked.has('/'))
  return { gateway, response, answer, asked, origin: asked.get('/')! }
}

async function readiness({ admin }: RunningGateway): Promise<unknown> {
  const response = await fetch(`${admin}/readyz`)
  return [response.status, await response.json()]
}

/** Returns once connections are refused: workers close their listeners one by one, and reset who waits there at that moment. */
async function refused(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1', () => socket.destroy())
    const failure = await once(socket, 'close').then(
      () => null,
      error => error,
    )
    if (failure?.code === 'ECONNREFUSED') return
  }
}

for (const workers of thorough([0, 2], [2]))
  test(`SIGTERM: unready at once, no new connection, what runs is finished and its connections close, exit 0 (workers: ${workers})`, async t => {
    const listen = 'listen: [{address: 127.0.0.1:0, h2c: true}]'
    const more = `workers: ${workers}\n${listen}`
    const { gateway, response, answer, asked, origin } = await startWithRequest(t, more)
    assert.deepEqual(await readiness(gateway), [200, { status: 'ready' }])
    const sessions = await Promise.all(Array.from({ length: 4 }, () => connectHttp2(t, gateway.edge)))
    const { host } = new URL(gateway.edge)
    const other = ask(sessions[0]!, { ':authority': host, ':path': '/other' })
    await until(() => asked.has('/other'))
    const farewells = Promise.all(sessions.map(session => once(session, 'goaway').then(([code]) => code)))
    gateway.signal('SIGTERM')
    await gateway.logged('stopping')
    assert.deepEqual(await readiness(gateway), [503, { status: 'unready', reason: 'draining' }])
    await refused(Number(new URL(gateway.edge).port))
    // Whichever worker they are in.
    assert.deepEqual(await farewells, [0, 0, 0, 0])
    origin.end('in time')
    assert.equal((await response).headers.get('connection'), 'close')
    assert.equal(await answer, 'in time')
    asked.get('/other')!.end('in time, too')
    assert.equal(String((await other).body), 'in time, too')
    assert.deepEqual(await gateway.exited, { code: 0, signal: null })
    assert.ok(
      gateway.lines.some(({ msg, status }) => msg === 'request' && status === 200),
      'the log was flushed',
    )
  })

for (const workers of thorough([0, 2], [1])) {
  test(`connections that are held are reset, and nobody waits for them (workers: ${Math.min(workers, 1)})`, async t => {
    const listen = 'listen: [{address: 127.0.0.1:0, h2c: true}]'
    const more = `workers: ${Math.min(workers, 1)}\n${listen}\nadmin: 127.0.0.1:0\n${lastingPenalty}`
    const gateway = await startGateway(t, siteConfig('http://127.0.0.1:1', more))
    const { ends } = await beHeld(t, gateway.edge, gateway.admin)
    gateway.signal('SIGTERM')
    assert.deepEqual(new Set(await ends), new Set(['ECONNRESET']))
    assert.deepEqual(await gateway.exited, { code: 0, signal: null })
  })

  test(`WebSockets get 1001 at both ends before the grace is over, and what runs after it is cut, exit 0 all the same (workers: ${workers})`, async t => {
    const asked = Promise.withResolvers<void>()
    const origin = await startSite(t, () => asked.resolve())
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    t.after(() => server.close())
    await once(server, 'listening')
    const sockets = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const gateway = await startGateway(
      t,
      `workers: ${workers}
shutdown: { grace: 1s }
pools: { site: { origins: ['${origin}'] }, sockets: { origins: ['${sockets}'] } }
zones: [{ hosts: [127.0.0.1], routes: [{ path: /, pool: site }, { path: /sockets, pool: sockets }] }]
`,
    )
    const cut = assert.rejects(fetch(gateway.edge))
    await asked.promise
    const socket = new WebSocket(`${gateway.edge}/sockets`)
    t.after(() => socket.terminate())
    const [[peer]] = await Promise.all([once(server, 'connection'), once(socket, 'open')])
    const codes = Promise.all([socket, peer].map(async end => (await once(end, 'close'))[0]))
    gateway.signal('SIGTERM')
    assert.deepEqual(await codes, [1001, 1001])
    await cut
    assert.deepEqual(await gateway.exited, { code: 0, signal: null })
  })

  for (const [signal, code] of thorough<readonly (readonly [NodeJS.Signals, number])[]>(
    [
      ['SIGTERM', 143],
      ['SIGINT', 130],
    ],
    [['SIGINT', 130]],
  ))
    test(`a second signal ends the gateway at once, with the code of ${signal}, and cuts a response with a reset, not with what looks like its end (workers: ${workers})`, async t => {
      const origin = await startSite(t, (_, response) => void response.write('begin'))
      const gateway = await startGateway(t, siteConfig(origin, `workers: ${workers}`))
      const socket = connect(Number(new URL(gateway.edge).port), '127.0.0.1')
      socket.write('GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n')
      const received = await once(socket, 'data')
      assert.match(String(received), /^HTTP/)
      const failed = once(socket, 'end').then(
        () => 'FIN',
        error => error.code,
      )
      socket.resume()
      gateway.signal('SIGTERM')
      await gateway.logged('stopping')
      gateway.signal(signal)
      assert.equal(await failed, 'ECONNRESET')
      assert.deepEqual(await gateway.exited, { code, signal: null })
    })

  test(`a bug in the first process cuts a response with a reset, too, and leaves a line in the log and exit code 1 (workers: ${workers})`, async t => {
    const origin = await startSite(t, (_, response) => void response.write('begin'))
    const config = siteConfig(origin, `workers: ${workers}`)
    const gateway = await startGateway(t, config, { env: { NODE_OPTIONS: provokable } })
    const socket = connect(Number(new URL(gateway.edge).port), '127.0.0.1')
    socket.write('GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n')
    await once(socket, 'data')
    const failed = once(socket, 'end').then(
      () => 'FIN',
      error => error.code,
    )
    socket.resume()
    gateway.signal('SIGURG')
    assert.equal(await failed, 'ECONNRESET')
    assert.deepEqual(await gateway.exited, { code: 1, signal: null })
    const { level, err } = await gateway.logged('gateway crashed: internal error')
    assert.deepEqual([level, (err as Error).message], ['fatal', 'provoked'])
  })
}

test('one Ctrl-C that arrives twice, from the terminal and from npm, is one', async t => {
  const { gateway, answer, origin } = await startWithRequest(t)
  for (let i = 0; i < 2; i++) gateway.signal('SIGINT')
  await gateway.logged('stopping')
  origin.end('in time')
  assert.equal(await answer, 'in time')
  assert.deepEqual(await gateway.exited, { code: 0, signal: null })
})

test('a reader of the log that has stalled, or left, does not hold up the exit', async t => {
  const file = writeConfig(t, siteConfig('http://127.0.0.1:1'))
  for (const leaves of [false, true]) {
    const child = spawn(process.execPath, [main, 'start', '--config', file], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    t.after(() => child.kill('SIGKILL'))
    const edge = await edgeOf(child.stdout)
    child.stdout.pause()
    if (leaves) child.stdout.destroy()
    for (let i = 0; i < 30; i++) {
      await Promise.all(
        Array.from({ length: 10 }, () => fetch(`${edge}/${'x'.repeat(1000)}`).then(answer => answer.text())),
      )
    }
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  }
})

/** Reads the log until it says where the gateway listens. */
async function edgeOf(log: Readable): Promise<string> {
  let told = ''
  for (;;) {
    told += await once(log, 'data')
    const [, host, port] = /"edge":\[\{"host":"([\d.]+)","port":(\d+)/.exec(told) ?? []
    if (port !== undefined) return `http://${host}:${port}`
  }
}
