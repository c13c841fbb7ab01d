// Restarts: the next gateway starts while the one before it finishes what runs.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, createServer as createHttpServer, get } from 'node:http'
import { Agent as TlsAgent, get as getSecurely } from 'node:https'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import { selfSigned } from '../../src/process/demo/self-signed.ts'
import { takeOver } from '../../src/process/handover/takeover.ts'
import { gatehouse } from '../help/command.ts'
import { freePort } from '../help/free-port.ts'
import { main, type RunningGateway, spawnGateway, writeConfig } from '../help/gateway.ts'
import { connectHttp2, open } from '../help/http2-client.ts'
import { siteConfig, startSite } from '../help/site.ts'
import { thorough } from '../help/thorough.ts'
import { until } from '../help/until.ts'
import { Visitor } from '../help/visitor.ts'

/** Prepares gateways of one configuration, whose origin streams at `/stream` until told to end. */
async function prepare(t: TestContext, workers: number, secured = '') {
  const end = new AbortController()
  t.after(() => end.abort())
  const origin = await startSite(t, ({ url, headers }, response) => {
    // Those who ask without a pause always have a request under way, and leave the processors to the gateways that start.
    const text = url === '/who' ? headers['x-forwarded-for'] : 'hello'
    if (url !== '/stream') return void setTimeout(() => response.end(text), 20)
    const ticking = setInterval(() => response.write('tick'), 20)
    end.signal.addEventListener('abort', () => {
      clearInterval(ticking)
      response.end('end')
    })
  })
  const [edge, admin] = await Promise.all([freePort(), freePort()])
  const listen = `listen: ['127.0.0.1:${edge}'${secured === '' ? '' : `, ${secured}`}]`
  const more = `workers: ${workers}\n${listen}\nadmin: 127.0.0.1:${admin}\n${secured === '' ? '' : tls}`
  const file = writeConfig(t, siteConfig(origin, more))
  const env = { ...process.env, GATEHOUSE_DATA: join(dirname(file), 'data') }
  const start = (...options: string[]) =>
    spawnGateway(t, [main, 'start', ...options, '--config', file], { env }, file)
  return { start, file, env, end: () => end.abort() }
}

const announced = '203.0.113.7'
const { cert, key } = selfSigned('localhost')
const tls = `tls: { certificates: [${JSON.stringify({ certificate: cert, key })}] }\ntrusted_proxies: [127.0.0.1]\n`

/** Opens connections as a load balancer does, which names their client before TLS. */
class Balancer extends TlsAgent {
  override createConnection({ port }: { port?: number }): Socket {
    const transport = connect(port!, '127.0.0.1')
    transport.write(`PROXY TCP4 ${announced} 192.0.2.1 56324 443\r\n`)
    return connectTls({ socket: transport, rejectUnauthorized: false })
  }
}

/** Opens the stream over HTTP/2; `text` resolves with all of it, `farewell` when the connection is told to end. */
async function openMultiplexed(t: TestContext, port: number) {
  const session = await connectHttp2(t, `https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  const farewell = once(session, 'goaway')
  const stream = open(session, { ':authority': '127.0.0.1', ':path': '/stream' })
  await once(stream, 'response')
  return { text: text(stream), farewell, closed: once(session, 'close') }
}

/** Opens the stream; `text` resolves with all of it. */
async function openStream({ edge }: RunningGateway): Promise<{ readonly text: Promise<string> }> {
  const response = await fetch(`${edge}/stream`)
  const text = response.text()
  text.catch(() => {})
  return { text }
}

/** How a client comes, and what it is to get. */
interface Way {
  readonly url: string
  readonly agent: Agent | TlsAgent
  readonly wanted: string
}

/** Sends requests one after the other until told to stop; returns what failed, and the longest time without a response, in ms. */
class Load {
  readonly failures: string[] = []
  count = 0
  longest = 0
  #isOver = false
  readonly #done: Promise<unknown>

  constructor(t: TestContext, edge: string, clients: number, others: readonly Way[] = []) {
    const plain = () => ({ url: edge, agent: new Agent({ keepAlive: true }), wanted: 'hello' })
    const ways = [...Array.from({ length: clients }, plain), ...others]
    this.#done = Promise.all(ways.map(way => this.#drive(way)))
    t.after(() => this.stop())
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#done
  }

  async #drive(way: Way): Promise<void> {
    let last = performance.now()
    while (!this.#isOver) {
      await this.#ask(way).catch(cause => this.failures.push(String(cause)))
      this.count++
      const now = performance.now()
      this.longest = Math.max(this.longest, now - last)
      last = now
    }
    way.agent.destroy()
  }

  async #ask({ url, agent, wanted }: Way): Promise<void> {
    const options = { agent, rejectUnauthorized: false }
    const request = agent instanceof TlsAgent ? getSecurely(url, options) : get(url, options)
    const [response] = await once(request, 'response')
    const body = await text(response)
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`)
    if (body !== wanted) throw new Error(body)
  }
}

/** Asks whether the gateway is ready until the test ends; returns the answers that said no. */
function watchReadiness(t: TestContext, { admin }: RunningGateway): readonly string[] {
  const unready: string[] = []
  const ask = async () => {
    // While the one has left the port and the other is not there yet, the connection is refused.
    const response = await fetch(`${admin}/readyz`).catch(() => null)
    if (response?.status === 503) unready.push(await response.text())
  }
  const asking = setInterval(ask, 40)
  t.after(() => clearInterval(asking))
  return unready
}

for (const workers of thorough([0, 2], [2])) {
  test(`a restart under load, with open streams, loses nothing on any kind of listener (workers: ${workers})`, async t => {
    const [secure, proxied] = await Promise.all([freePort(), freePort()])
    const { start, end } = await prepare(
      t,
      workers,
      `{address: '127.0.0.1:${secure}', tls: true}, {address: '127.0.0.1:${proxied}', tls: true, proxy_protocol: true}`,
    )
    let gateway = await start()
    const stream = await openStream(gateway)
    const multiplexed = await openMultiplexed(t, secure)
    const load = new Load(t, gateway.edge, 2, [
      { url: `https://127.0.0.1:${secure}`, agent: new TlsAgent({ keepAlive: true }), wanted: 'hello' },
      {
        url: `https://127.0.0.1:${proxied}/who`,
        agent: new Balancer({ keepAlive: true }),
        wanted: announced,
      },
    ])
    const unready = watchReadiness(t, gateway)
    const before: RunningGateway[] = []
    // One that has replaced another is replaced in its turn.
    for (let restart = 0; restart < (workers === 0 ? 2 : 1); restart++) {
      await wait(300)
      before.push(gateway)
      const next = await start('--replace')
      await gateway.logged('stopping')
      gateway = next
      assert.equal((await fetch(`${gateway.admin}/readyz`)).status, 200)
    }
    await wait(300)
    await load.stop()
    t.diagnostic(`${load.count} requests, the longest ${Math.round(load.longest)} ms`)
    assert.deepEqual(load.failures, [])
    assert.deepEqual(unready, [])
    // What waits for the open stream waits for ever.
    assert.ok(load.longest < 20_000, `nothing was served for ${load.longest} ms`)
    await multiplexed.farewell
    end()
    for (const { text } of [stream, multiplexed]) assert.match(await text, /^(tick)+end$/)
    await multiplexed.closed
    for (const { exited } of before) assert.deepEqual(await exited, { code: 0, signal: null })
  })
}

test('while a gateway finishes what runs, the next one starts and has the side port', async t => {
  const { start, end } = await prepare(t, 0)
  const first = await start()
  const stream = await openStream(first)
  first.signal('SIGTERM')
  await first.logged('stopping')
  assert.equal((await fetch(`${first.admin}/readyz`)).status, 503)
  const second = await start()
  assert.equal((await fetch(`${second.admin}/readyz`)).status, 200)
  assert.equal(await (await fetch(second.edge)).text(), 'hello')
  end()
  assert.match(await stream.text, /end$/)
  assert.deepEqual(await first.exited, { code: 0, signal: null })
  assert.equal((await fetch(`${second.admin}/readyz`)).status, 200)
})

for (const workers of thorough([0, 2], [1]))
  test(`a second gateway without --replace does not start, nor with a side port of its own, and only a process that has read the note in the data folder gets the side port (workers: ${workers})`, async t => {
    const { start, file, env } = await prepare(t, workers)
    const first = await start()
    const { code, stderr } = await gatehouse(['start', '--config', file], env)
    const { host } = new URL(first.admin)
    assert.deepEqual(
      [code, JSON.parse(stderr).msg],
      [
        1,
        `cannot listen on ${host}: the address is already in use by the gateway with this data folder (process ${first.pid}); take over from it with --replace, or choose another with --admin or the setting admin`,
      ],
    )
    for (const authorization of ['', 'Bearer ', `Bearer ${'A'.repeat(43)}`]) {
      const headers = { authorization }
      const response = await fetch(`${first.admin}/handover?replace`, { method: 'POST', headers })
      assert.equal(response.status, 404)
      assert.equal((await fetch(`${first.admin}/upgrade`, { method: 'POST', headers })).status, 404)
    }
    assert.equal((await fetch(`${first.admin}/readyz`)).status, 200)
    const edge = new URL(first.edge).host
    const yaml = `listen: ['${edge}']\nadmin: 127.0.0.1:0\nworkers: ${workers}\nzones: []\n`
    const other = await gatehouse(['start', '--config', writeConfig(t, yaml)], env)
    assert.equal(other.code, 1, other.stderr)
    assert.ok(other.stderr.includes(`cannot listen on ${edge}: the address is already in use`), other.stderr)
  })

test('a side port is taken back where the next gateway does not come up, and a gateway that ends leaves no note', async t => {
  const { start, env } = await prepare(t, 0)
  const first = await start()
  const second = await start('--replace')
  await first.exited
  second.signal('SIGTERM')
  await second.exited
  const notes = readdirSync(env.GATEHOUSE_DATA).filter(name => name.endsWith('.handover'))
  assert.deepEqual(notes, [])
  const third = await start()
  const port = Number(new URL(third.admin).port)
  const folder = env.GATEHOUSE_DATA
  assert.equal(await takeOver({ port }, { replaces: false }, folder).then(before => before?.yields), false)
  assert.equal(await takeOver({ port }, { replaces: true }, folder).then(before => before?.yields), true)
  await assert.rejects(fetch(`${third.admin}/readyz`))
  await third.logged('admin listener taken back: the new gateway ended')
  await until(async () => (await fetch(`${third.admin}/readyz`)).ok)
})

for (const isStopping of thorough([false, true], [false]))
  test(`new connections to the side port notice no replacement (of a gateway that is ${isStopping ? 'stopping' : 'running'})`, async t => {
    const { start, end } = await prepare(t, 0)
    let gateway = await start()
    const port = Number(new URL(gateway.admin).port)
    const visitors = Array.from({ length: 6 }, (_, i) => new Visitor(port, i * 4 + 4))
    t.after(() => Promise.all(visitors.map(visitor => visitor.leave())))
    const count = () => visitors.reduce((sum, visitor) => sum + visitor.count, 0)
    const meanwhile: number[] = []
    for (let replacement = 0; replacement < thorough(isStopping ? 1 : 2, 1); replacement++) {
      const before = gateway
      if (isStopping) {
        await openStream(before)
        before.signal('SIGTERM')
        await before.logged('stopping')
      }
      const next = start('--replace')
      await before.logged('admin listener shared with the next gateway')
      const atFirst = count()
      await before.logged('admin listener handed over')
      meanwhile.push(count() - atFirst)
      gateway = await next
      end()
      assert.deepEqual(await before.exited, { code: 0, signal: null })
    }
    const outcomes = (await Promise.all(visitors.map(visitor => visitor.leave()))).flat()
    t.diagnostic(`${outcomes.length} connections, ${meanwhile} of them while the port changed hands`)
    assert.ok(meanwhile.every(Boolean), `no connection while the port changed hands: ${meanwhile}`)
    assert.deepEqual(
      outcomes.filter(outcome => outcome !== 'served'),
      [],
    )
  })

test('a side port that was shared with a gateway which did not come up is its own again, and was there all the time', async t => {
  const { start, file, env } = await prepare(t, 0)
  const first = await start()
  const port = Number(new URL(first.admin).port)
  const visitor = new Visitor(port, 50)
  t.after(() => visitor.leave())
  const asked = { replaces: true, shares: true }
  const take = () => takeOver({ port }, asked, env.GATEHOUSE_DATA).then(before => before?.yields)
  assert.equal(await take(), true)
  // Another one that comes at the same time waits for its turn.
  assert.equal(await take(), false)
  await first.logged('admin listener kept: the new gateway ended')
  const listens = createServer().listen({ host: '127.0.0.1', port, reusePort: true })
  assert.equal((await once(listens, 'error'))[0].code, 'EADDRINUSE')
  assert.deepEqual(
    (await visitor.leave()).filter(outcome => outcome !== 'served'),
    [],
  )
  const next = await start('--replace')
  assert.equal((await fetch(`${next.admin}/readyz`)).status, 200)
  assert.deepEqual(await first.exited, { code: 0, signal: null })
  assert.equal((await gatehouse(['start', '--config', file], env)).code, 1)
})

test('a gateway that is replaced while it drains finishes what runs', async t => {
  const { start, end } = await prepare(t, 0)
  const first = await start()
  const stream = await openStream(first)
  first.signal('SIGTERM')
  await first.logged('stopping')
  const second = await start('--replace')
  assert.equal((await fetch(`${second.admin}/readyz`)).status, 200)
  end()
  assert.match(await stream.text, /end$/)
  assert.deepEqual(await first.exited, { code: 0, signal: null })
})

test('a gateway that was replaced and is then told to stop finishes what runs', async t => {
  const { start, end } = await prepare(t, 1)
  const first = await start()
  const stream = await openStream(first)
  await start('--replace')
  await first.logged('stopping')
  first.signal('SIGTERM')
  end()
  assert.match(await stream.text, /end$/)
  assert.deepEqual(await first.exited, { code: 0, signal: null })
})

test('no process is stopped because of an id that a caller of the side port names', async t => {
  const { start, env, file } = await prepare(t, 0)
  const bystander = spawn('sleep', ['60'])
  t.after(() => bystander.kill('SIGKILL'))
  const ended = once(bystander, 'exit').then(() => 'ended')
  const first = await start()
  const port = Number(new URL(first.admin).port)
  const note = join(env.GATEHOUSE_DATA, `side-port-${port}.handover`)
  const left = readFileSync(note)
  first.signal('SIGTERM')
  await first.exited
  writeFileSync(note, left)
  const stranger = createHttpServer((_, response) => {
    response.end(JSON.stringify({ pid: bystander.pid }))
    stranger.close()
  })
  await once(stranger.listen(port, '127.0.0.1'), 'listening')
  const second = spawnGateway(t, [main, 'start', '--replace', '--config', file], { env }, file)
  await second.catch(() => {})
  assert.equal(await Promise.race([ended, wait(300)]), undefined)
})

test('a request that the side port of a replaced gateway has begun to read gets its response', async t => {
  const { start } = await prepare(t, 0)
  const first = await start()
  const { account, token } = await first.firstStart
  const { hostname, port } = new URL(first.admin)
  const socket = connect(Number(port), hostname)
  t.after(() => socket.destroy())
  const answer = text(socket)
  const head = `POST /client/v4/accounts/${account}/tokens HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n`
  socket.write(`${head}Content-Type: application/json\r\nAuthorization: Bearer ${token}\r\n\r\n{`)
  await start('--replace')
  await first.logged('stopping')
  // Longer than a gateway takes to end that nobody holds up.
  await wait(300)
  socket.write('}')
  assert.match(await answer, /^HTTP\/1\.1 400 /)
  assert.deepEqual(await first.exited, { code: 0, signal: null })
})

test('two gateways that replace a third at once lose nothing, and one of them stays', async t => {
  const { start, file, env } = await prepare(t, 0)
  const first = await start()
  const load = new Load(t, first.edge, 2)
  const both = [0, 1].map(() =>
    spawn(process.execPath, [main, 'start', '--replace', '--config', file], { env, stdio: 'ignore' }),
  )
  for (const child of both) t.after(() => child.kill('SIGKILL'))
  // The one that does not stay may be gone before the first is.
  const oneEnds = Promise.race(both.map(child => once(child, 'exit')))
  await Promise.all([first.exited, oneEnds])
  await wait(500)
  await load.stop()
  assert.deepEqual(load.failures, [])
  assert.equal(both.filter(({ exitCode }) => exitCode === null).length, 1)
  assert.equal((await fetch(`${first.admin}/readyz`)).status, 200)
})

test('a gateway continues when its replacement cannot start', async t => {
  const { start, file, env } = await prepare(t, 0)
  const first = await start()
  const taken = createServer().listen(0, '127.0.0.1')
  t.after(() => taken.close())
  await once(taken, 'listening')
  const load = new Load(t, first.edge, 2)
  const unready = watchReadiness(t, first)
  const other = join(dirname(file), 'other.yaml')
  const { host } = new URL(first.edge)
  const edge = `'127.0.0.1:${(taken.address() as AddressInfo).port}'`
  for (const [from, to] of [
    [`listen: ['${host}']`, `listen: [${edge}]`],
    [`listen: ['${host}']`, `listen: ['${host}', ${edge}]\nstore: {url: 'sqlite:/dev/null/no'}`],
    ['pool: site', 'pool: nobody'],
  ] as const) {
    writeFileSync(other, readFileSync(file, 'utf8').replace(from, to))
    const { code } = await gatehouse(['start', '--replace', '--config', other], env)
    assert.notEqual(code, 0)
  }
  await load.stop()
  assert.deepEqual([load.failures, unready], [[], []])
})

test('the side port knows clients of the zone before it all through a replacement', async t => {
  const { start, file } = await prepare(t, 0)
  const yaml = readFileSync(file, 'utf8')
  const [, admin] = /admin: (.+)/.exec(yaml)!
  writeFileSync(file, yaml.replace(/origins: \[.*?\]/, `origins: ['http://${admin}']`))
  const first = await start()
  const { account, token } = await first.firstStart
  const tokens = `/client/v4/accounts/${account}/tokens`
  const ask = (path: string, bearer: string, body?: unknown) =>
    fetch(`${first.edge}${tokens}${path}`, {
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    }).then(async response => [response.status, await response.text()] as const)
  const groups = JSON.parse((await ask('/permission_groups', token))[1]).result
  const [, made] = await ask('', token, {
    name: 'for one address',
    policies: [
      {
        effect: 'allow',
        resources: { [`svc.api.account.${account}`]: '*' },
        permission_groups: [{ id: groups[0].id }],
      },
    ],
    condition: { request_ip: { in: ['127.0.0.1'] } },
  })
  const bound = JSON.parse(made).result.value
  const refusals: unknown[] = []
  let isOver = false
  const asking = (async () => {
    while (!isOver) {
      const [status, text] = await ask('/verify', bound)
      // While the one has left the port and the other is not there yet, the edge says 521.
      if (status !== 200 && status !== 521) refusals.push([status, text])
      await wait(25)
    }
  })()
  await start('--replace')
  await first.exited
  isOver = true
  await asking
  assert.deepEqual(refusals, [])
})
