import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, Server, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Unready } from '../../src/admin/service/health.ts'
import type { SidePortApp } from '../../src/admin/api/side-port-app.ts'
import type { Sender } from '../../src/admin/http/caller-address.ts'
import { backlog, handleOf, type SocketHandle } from '../../src/net/socket/listening-socket.ts'
import { SidePortAuth } from '../../src/net/http/side-port-auth.ts'
import type { Facts } from '../../src/admin/routes.ts'
import { AdminServer } from '../../src/admin/server.ts'
import { assertQueues } from '../help/listen-queue.ts'

/** Runs an admin listener with the facts given; returns its URL and what bugs it told of. */
async function startAdmin(t: TestContext, facts: Partial<Facts> = {}, handle: SocketHandle | null = null) {
  const bugs: unknown[] = []
  const usual: Facts = { unready: () => null, metricsAccess: 'direct', metrics: async () => 'up 1\n' }
  const server = new AdminServer({ ...usual, ...facts }, bug => bugs.push(bug))
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 }, handle)
  t.after(() => server.close())
  return { server, port, url: `http://127.0.0.1:${port}`, bugs }
}

/** Sends bytes and returns all that comes back until the end. */
async function send(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1')
  socket.write(bytes)
  return (await socket.toArray()).join('')
}

/** Returns a connection that the server has accepted. */
async function connected(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  return socket
}

test('healthz is 200 as long as the process answers, also when it is not ready', async t => {
  const { url } = await startAdmin(t, { unready: () => 'draining' })
  const response = await fetch(`${url}/healthz`)
  assert.equal(response.status, 200)
  assert.deepEqual(await response.json(), { status: 'alive' })
})

for (const [field, pause] of [
  ['keep-alive', 0],
  ['close', 0],
  ['close', 250],
] as const)
  test(`a client that sends all of a body before it reads gets the response to it (${field}, a piece each ${pause} ms)`, async t => {
    const { port } = await startAdmin(t)
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).setEncoding('latin1').pause()
    const pieces = 16
    const piece = Buffer.alloc(1024 * 1024)
    socket.write(
      `POST /none HTTP/1.1\r\nHost: a\r\nConnection: ${field}\r\nContent-Length: ${pieces * piece.length}\r\n\r\n`,
    )
    for (let i = 0; i < pieces; i++) {
      await new Promise<unknown>(resolve => socket.write(piece, resolve))
      await sleep(pause)
    }
    const [response] = (await once(socket.resume(), 'data')) as [string]
    assert.match(response, /^HTTP\/1\.1 404 /)
    socket.destroy()
  })

test('readyz is 200 or 503 with the reason, as it is at that moment', async t => {
  let unready: Unready = 'starting'
  const { url } = await startAdmin(t, { unready: () => unready })
  const readiness = async () => {
    const response = await fetch(`${url}/readyz`)
    return [response.status, await response.json()]
  }
  assert.deepEqual(await readiness(), [503, { status: 'unready', reason: 'starting' }])
  unready = null
  assert.deepEqual(await readiness(), [200, { status: 'ready' }])
  unready = 'no worker is up'
  assert.deepEqual(await readiness(), [503, { status: 'unready', reason: 'no worker is up' }])
})

test('metrics have the content type that Prometheus asks for', async t => {
  const { url } = await startAdmin(t)
  const response = await fetch(`${url}/metrics`)
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  assert.equal(await response.text(), 'up 1\n')
})

test('an error is documented in the requested format', async t => {
  const { url } = await startAdmin(t)
  const ask = (path: string, accept: string) => fetch(`${url}${path}`, { headers: { accept } })
  assert.equal(((await (await ask('/errors/522', 'application/json')).json()) as { code: number }).code, 522)
  assert.match(await (await ask('/errors/522', 'text/markdown')).text(), /^# Error 522/)
  const page = await ask('/errors', 'text/html')
  assert.match(await page.text(), /1015/)
  assert.match(page.headers.get('content-security-policy')!, /default-src 'none'/)
})

test('the documentation of an unknown code is 404', async t => {
  const { url } = await startAdmin(t)
  for (const code of ['9999', 'constructor', '%00'])
    assert.equal((await fetch(`${url}/errors/${code}`)).status, 404)
})

test('every response has strict headers, a length and a ray id', async t => {
  const { url } = await startAdmin(t)
  for (const path of ['/healthz', '/errors/500', '/nowhere']) {
    const { headers } = await fetch(`${url}${path}`)
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path)
    assert.equal(headers.get('x-frame-options'), 'SAMEORIGIN', path)
    assert.match(headers.get('content-security-policy')!, /default-src 'none'/, path)
    assert.match(headers.get('svc-ray')!, /^[0-9a-f]{16}$/, path)
    assert.ok(Number(headers.get('content-length')) > 0, path)
  }
})

test('HEAD has the headers of GET and no body', async t => {
  const { port } = await startAdmin(t)
  const answer = await send(port, 'HEAD /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
  assert.match(answer, /content-length: 19\r\n/i)
  assert.ok(answer.endsWith('\r\n\r\n'))
})

test('a bug in a handler is reported to the process and not to the client', async t => {
  const bug = new Error('secret detail')
  const { url, bugs } = await startAdmin(t, { metrics: () => Promise.reject(bug) })
  const response = await fetch(`${url}/metrics`)
  assert.equal(response.status, 500)
  assert.equal((await response.text()).includes('secret'), false)
  assert.deepEqual(bugs, [bug])
})

test('headers beyond 8 KiB are refused with 431, invalid requests with 400', async t => {
  const { port } = await startAdmin(t)
  const large = await send(port, `GET / HTTP/1.1\r\nHost: a\r\nx: ${'x'.repeat(9000)}\r\n\r\n`)
  assert.match(large, /^HTTP\/1\.1 431 /)
  assert.match(large, /"code":6003/)
  assert.match(await send(port, 'hello\r\n\r\n'), /^HTTP\/1\.1 400 /)
})

test('CONNECT is refused with 405, and told what is allowed', async t => {
  const { port } = await startAdmin(t)
  const refused = await send(port, 'CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n')
  assert.match(refused, /^HTTP\/1\.1 405 Method Not Allowed\r\n/)
  assert.match(refused, /\r\nAllow: GET, HEAD, POST, PUT, PATCH, DELETE\r\n/)
  assert.match(refused, /"code":7001/)
})

test('a method that the server does not know is 501, and bytes that are no request stay 400', async t => {
  const { port } = await startAdmin(t)
  const rest = '/healthz HTTP/1.1\r\nHost: a\r\n\r\n'
  for (const method of ['BREW', 'get', 'GETX', 'DESCRIBE', "!#$%&'*+-.^_`|~09az"]) {
    const refused = await send(port, `${method} ${rest}`)
    assert.match(refused, /^HTTP\/1\.1 501 Not Implemented\r\n/, method)
    const message = 'Unknown method; use GET, HEAD, POST, PUT, PATCH, DELETE'
    assert.deepEqual(JSON.parse(refused.slice(refused.indexOf('{'))).errors, [{ code: 7001, message }])
  }
  for (const bytes of [
    'BREW',
    'BREW /\r\n\r\n',
    'B(EW / HTTP/1.1\r\n\r\n',
    'BREW / HTTP/2.0\r\n\r\n',
    '\x16\x03\x01\x00',
  ])
    assert.match(await send(port, bytes), /^HTTP\/1\.1 400 /, bytes)
})

test('what is refused behind other requests is refused after their responses', async t => {
  const { port } = await startAdmin(t)
  const good = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'
  for (const [bad, status] of [
    ['BREW / HTTP/1.1\r\nHost: a\r\n\r\n', 501],
    ['hello\r\n\r\n', 400],
    ['CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\n\r\n', 405],
  ] as const) {
    const responses = await send(port, `${good}${good}${bad}`)
    const statuses = [...responses.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))
    assert.deepEqual(statuses, [200, 200, status], bad)
  }
})

test('a face gets the whole requests below its paths, and the table all others', async t => {
  const { server, url } = await startAdmin(t)
  const face: SidePortApp = {
    takes: path => path === '/own',
    serve: async (request, response, sender) => {
      response.setHeader('content-security-policy', 'sandbox')
      response.writeHead(201, { 'content-type': 'text/plain' })
      const body = (await request.toArray()).join('')
      response.end(`${request.method} ${request.url} ${body} ${sender.peer} ${sender.ray}`)
    },
  }
  server.apps = [face]
  const response = await fetch(`${url}/own?a=b`, { method: 'POST', body: 'c' })
  const ray = response.headers.get('svc-ray')!
  assert.match(ray, /^[0-9a-f]{16}$/)
  assert.equal(response.status, 201)
  assert.equal(await response.text(), `POST /own?a=b c 127.0.0.1 ${ray}`)
  assert.equal(response.headers.get('content-security-policy'), 'sandbox')
  assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
  assert.equal((await fetch(`${url}/own/er`)).status, 404)
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
})

test('an exception in a face is reported to the process; a response that has begun is cut', async t => {
  const { server, url, bugs } = await startAdmin(t)
  const bug = new Error('secret detail')
  const face: SidePortApp = {
    takes: path => path.startsWith('/own/'),
    serve: async (request, response) => {
      response.setHeader('x-half', 'done')
      if (request.url === '/own/late') {
        response.write('begun')
        await new Promise(resolve => setImmediate(resolve))
      }
      throw bug
    },
  }
  server.apps = [face]
  const response = await fetch(`${url}/own/early`)
  assert.equal(response.status, 500)
  assert.equal(response.headers.get('x-half'), null)
  assert.match(response.headers.get('svc-ray')!, /^[0-9a-f]{16}$/)
  assert.equal((await response.text()).includes('secret'), false)
  await assert.rejects(fetch(`${url}/own/late`).then(response => response.text()))
  assert.deepEqual(bugs, [bug, bug])
})

test('a bug on the way to a handler, or behind it, costs the one request', async t => {
  const { server, url, bugs } = await startAdmin(t)
  const sidePortAuth = new SidePortAuth(new Uint8Array(32))
  server.sidePortAuth = sidePortAuth
  const broken: SidePortApp = { takes: () => assert.fail('planted'), serve: () => Promise.resolve() }
  server.apps = [broken]
  server.published = [broken]
  await assert.rejects(fetch(url))
  const published = await server.listenForEdge()
  const hop = sidePortAuth.write({ address: '192.0.2.1', ray: '0'.repeat(16) })
  const answer = await send(
    published.port,
    `GET / HTTP/1.1\r\nHost: a\r\nVia: 1.1 a\r\nsvc-hop: ${hop}\r\n\r\n`,
  )
  assert.equal(answer, '')
  server.apps = []
  server.front = 'http://a/\r\n'
  await assert.rejects(fetch(url, { headers: { accept: 'text/html' } }))
  assert.equal(bugs.length, 3)
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
})

test('a listener that fails to accept a connection goes on', async t => {
  const listening = t.mock.method(Server.prototype, 'listen')
  const { url, bugs } = await startAdmin(t)
  const failure = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' })
  ;(listening.mock.calls[0]!.this as Server).emit('error', failure)
  assert.deepEqual(bugs, [failure])
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
})

test('the listener for the edge serves what is published to whom the edge vouches for, and nothing else', async t => {
  const { server, url, bugs } = await startAdmin(t)
  const sidePortAuth = new SidePortAuth(Buffer.alloc(32, 7))
  server.sidePortAuth = sidePortAuth
  const senders: Sender[] = []
  server.published = [
    {
      takes: path => path.startsWith('/own/'),
      serve: async (_, response, sender) => {
        senders.push(sender)
        response.end('served')
      },
    },
  ]
  const kept = {
    takes: () => true,
    serve: async (_, response) => void response.end('kept'),
  } satisfies SidePortApp
  server.apps = [...server.published, kept]
  const { host, port } = await server.listenForEdge()
  assert.equal(host, '127.0.0.1')
  const ray = '0123456789abcdef'
  const hop = sidePortAuth.write({ address: '192.0.2.1', ray })
  const ask = async (path: string, hops?: string) => {
    const headers = { via: '1.1 gatehouse', ...(hops && { 'svc-hop': hops }) }
    const response = await fetch(`http://${host}:${port}${path}`, { headers })
    return [response.status, await response.text()] as const
  }
  assert.deepEqual(await ask('/own/er', hop), [200, 'served'])
  assert.deepEqual(
    senders.map(({ address, ray }) => ({ address, ray })),
    [{ address: '192.0.2.1', ray }],
  )
  const forged = new SidePortAuth(Buffer.alloc(32, 8)).write({ address: '192.0.2.1', ray })
  for (const hops of [undefined, forged, `${hop}, ${hop}`])
    assert.equal((await ask('/own/er', hops))[0], 404, String(hops))
  assert.equal((await fetch(`http://${host}:${port}/own/er`)).status, 404)
  for (const path of ['/healthz', '/metrics', '/client/v4/openapi.json', '/', '/own'])
    assert.equal((await ask(path, hop))[0], 404, path)
  assert.equal(await (await fetch(`${url}/healthz`)).text(), 'kept')
  assert.equal(senders.length, 1)
  assert.deepEqual(bugs, [])
})

test('close finishes the request that runs and takes no more', async t => {
  const metrics = Promise.withResolvers<string>()
  const asked = Promise.withResolvers<void>()
  const { server, url, port } = await startAdmin(t, {
    metrics: () => {
      asked.resolve()
      return metrics.promise
    },
  })
  const running = fetch(`${url}/metrics`)
  await asked.promise
  const closed = server.close()
  const [refused] = await once(connect(port, '127.0.0.1'), 'error')
  assert.equal(refused.code, 'ECONNREFUSED')
  metrics.resolve('late 1\n')
  assert.equal(await (await running).text(), 'late 1\n')
  await closed
})

test('close waits for the body of a request whose response came first, and no longer', async t => {
  const { server, port } = await startAdmin(t)
  const socket = connect(port, '127.0.0.1')
  socket.write('POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab')
  const [answer] = await once(socket, 'data')
  assert.match(String(answer), /^HTTP\/1\.1 404 /)
  const ended = once(socket, 'end')
  const closed = server.close()
  socket.resume().write('cd')
  await Promise.all([closed, ended])
})

test('a port that is left to another gateway ends no connection whose request is on its way', async t => {
  const { server, port } = await startAdmin(t)
  const [used, late, silent] = await Promise.all([1, 2, 3].map(() => connected(port)))
  const hello = 'GET /healthz HTTP/1.1\r\nhost: gateway\r\n\r\n'
  used!.write(hello)
  await once(used!, 'data')
  const [usedEnds, silentEnds] = [used!, silent!].map(socket => once(socket.resume(), 'close'))
  server.hush()
  // What comes next on it is for the other gateway.
  await usedEnds
  const closed = server.close()
  // Longer than it takes until idle connections are closed.
  await sleep(200)
  late!.write(hello)
  assert.match((await late!.toArray()).join(''), /^HTTP\/1\.1 200 .*\r\nconnection: close\r\n/s)
  await Promise.all([silentEnds, closed])
})

test('the front page shows the state of the gateway, and its links work', async t => {
  let unready: Unready = null
  const { url } = await startAdmin(t, { unready: () => unready, api: () => null })
  const page = await fetch(url, { headers: { accept: 'text/html' } })
  assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(page.headers.get('content-security-policy')!, /^default-src 'none'; style-src 'sha256-/)
  const text = await page.text()
  assert.match(text, /class="state ready">Ready</)
  const paths = [...text.matchAll(/<a href="([^"]+)"/g)].map(([, path]) => path!)
  assert.deepEqual(paths, ['readyz', 'metrics', 'errors', 'docs', 'docs/api', 'client/v4/openapi.json'])
  for (const path of paths) assert.equal((await fetch(new URL(path, `${url}/`))).status, 200, path)
  unready = 'draining'
  assert.match(await (await fetch(url)).text(), />Not ready: draining</)
  const json = await (await fetch(url, { headers: { accept: 'application/json' } })).json()
  assert.deepEqual(json, { status: 'unready', reason: 'draining', links: paths.map(path => `/${path}`) })
})

test('a side port that was bound by another process has as long a queue as a listener', async t => {
  const before = createServer().listen({ port: 0, host: '127.0.0.1', backlog })
  t.after(() => before.close())
  await once(before, 'listening')
  const { port } = await startAdmin(t, {}, handleOf(before))
  await assertQueues(port, 600)
})
