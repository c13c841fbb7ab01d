// What a gateway writes while it runs: text for people at a terminal, and JSON lines everywhere else, on both streams.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { main, provokable, startGateway, writeConfig } from '../help/gateway.ts'
import { gatehouse } from '../help/command.ts'
import { readMetrics } from '../help/prometheus.ts'
import { siteConfig } from '../help/site.ts'
import { atTerminal, type Terminal } from '../help/terminal.ts'
import { thorough } from '../help/thorough.ts'
import { until } from '../help/until.ts'

const closed = siteConfig('http://127.0.0.1:1')
/** One that starts with warnings. */
const unwise = `
pools: { site: { origins: [{ url: 'https://127.0.0.1:1', verify: false }] } }
zones: [{ hosts: [127.0.0.1], routes: [{ path: /, pool: site }] }]
`

/** Starts a gateway at a terminal; `more` follows its command line. */
function startAtTerminal(t: TestContext, yaml: string, more = '', env: NodeJS.ProcessEnv = {}) {
  const file = writeConfig(t, yaml)
  const GATEHOUSE_DATA = join(dirname(file), 'data')
  const line = `exec '${process.execPath}' '${main}' start --config '${file}' ${more}`
  return { terminal: atTerminal(t, line, { GATEHOUSE_DATA, ...env }), folder: dirname(file) }
}

/** Asks for a path with bytes of all kinds that a client may send, and reads the answer to its end. */
async function askOddly(port: number, path: Buffer): Promise<void> {
  const socket = connect(port, '127.0.0.1')
  socket.write(Buffer.concat([Buffer.from('GET '), path, Buffer.from(' HTTP/1.1\r\n')]))
  socket.end('Host: 127.0.0.1\r\nConnection: close\r\n\r\n')
  await once(socket.resume(), 'close')
}

/** Returns what is shown without the colours that are ours. */
function uncoloured({ text }: Terminal): string {
  return text.replace(/\u001b\[\d+m/g, '')
}

const odd = Buffer.from('/x\x9b2J\x85\xe2\x80\xae{"level":60}', 'latin1')

for (const workers of thorough([0, 2], [1]))
  test(`at a terminal there are a greeting and readable lines, which no client can steer (workers: ${workers})`, async t => {
    const { terminal } = startAtTerminal(t, `workers: ${workers}${closed}`)
    const [, port] = await terminal.shows(/listens on {2}http:\/\/127\.0\.0\.1:(\d+)\r\n/)
    await terminal.shows(/account {3}[0-9a-f]{32}\r\n.*\r\n +token {5}svct_[\w-]+\r\n/)
    await askOddly(Number(port), odd)
    await terminal.shows(/request/)
    await terminal.shows(/path=/)
    terminal.press('\x03')
    assert.equal(await terminal.exited, 0)
    assert.match(terminal.text, /\u001b\[32mINFO /)
    const text = uncoloured(terminal)
    assert.doesNotMatch(text, /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]/)
    const [, started] =
      /^\d\d:\d\d:\d\d\.\d{3} INFO {2}ready version=\S+ program=(\S+) edge=\[\{"host":"127\.0\.0\.1",/m.exec(
        text,
      )!
    assert.equal(started, main.endsWith('.ts') ? 'sources' : 'package')
    assert.match(text, /^\S+ INFO {2}request ray=.* status=521 error=origin_down cause=ECONNREFUSED /m)
    assert.ok(text.includes('path="/x\\u009b2J\\u0085â\\u0080®{\\"level\\":60}" '), text)
    assert.match(text, /INFO {2}stopping signal=SIGINT pid=\d+\r\n/)
    assert.doesNotMatch(text, /^\{/m)
  })

for (const workers of thorough([0, 1], [1]))
  test(`a terminal that is stopped holds up no request, and shows what it missed when it goes on, without colours where they are not wanted (workers: ${workers})`, async t => {
    const { terminal } = startAtTerminal(t, `workers: ${workers}${closed}`, '', { NO_COLOR: '1' })
    const [, port] = await terminal.shows(/listens on {2}http:\/\/127\.0\.0\.1:(\d+)\r\n/)
    const [, adminPort] = await terminal.shows(/ready .*admin=\{"host":"127\.0\.0\.1","port":(\d+)\}/)
    const [, pid] = await terminal.shows(/ready .* pid=(\d+)/)
    await terminal.shows(/token/)
    const admin = `http://127.0.0.1:${adminPort}`
    terminal.press('\x13')
    for (let i = 0; i < 100; i++) await askOddly(Number(port), Buffer.from(`/${'x'.repeat(500)}/${i}.`))
    // The supervisor tells of this, too.
    process.kill(Number(pid), 'SIGHUP')
    const reloads = async () => readMetrics(await (await fetch(`${admin}/metrics`)).text()).samples
    await until(async () => (await reloads()).get('gatehouse_config_reloads_total{result="success"}') === 1)
    assert.equal((await fetch(`${admin}/healthz`)).status, 200)
    terminal.press('\x11')
    await terminal.shows(/\/99\. /)
    await terminal.shows(/configuration reloaded/)
    terminal.press('\x03')
    assert.equal(await terminal.exited, 0)
    assert.ok(!terminal.text.includes('\u001b'))
  })

test('a person whose log goes to a file sees greeting and warnings; the file has JSON lines alone, and no token', async t => {
  const { terminal, folder } = startAtTerminal(t, unwise, '> "$GATEHOUSE_DATA.log"')
  await terminal.shows(/gatehouse\.yaml:4:\d+ pools\.site\.origins\[0\]: verify is off/)
  await terminal.shows(/listens on/)
  await terminal.shows(/svct_/)
  terminal.press('\x03')
  assert.equal(await terminal.exited, 0)
  const lines = readFileSync(join(folder, 'data.log'), 'utf8').trimEnd().split('\n')
  const messages = lines.map(line => JSON.parse(line).msg as string)
  for (const wanted of [/verify is off/, /^ready$/, /^stopped$/])
    assert.ok(
      messages.some(message => wanted.test(message)),
      String(wanted),
    )
  assert.doesNotMatch(lines.join(), /svct_/)
})

test('a warning is shown once to a person who sees the log', async t => {
  const { terminal } = startAtTerminal(t, unwise)
  await terminal.shows(/token/)
  terminal.press('\x03')
  await terminal.exited
  assert.equal(terminal.text.split('verify is off').length, 2)
})

for (const [command, workers] of thorough<readonly (readonly ['start' | 'demo', number])[]>(
  [
    ['start', 0],
    ['start', 2],
    ['demo', 0],
  ],
  [
    ['start', 1],
    ['demo', 0],
  ],
))
  test(`without a terminal both streams hold JSON lines and nothing else (${command}, workers: ${workers})`, async t => {
    const warning = `--import=data:text/javascript,process.on('SIGURG',()=>process.emitWarning('provoked'))`
    const env = { NODE_OPTIONS: warning }
    const gateway = await startGateway(t, `workers: ${workers}${unwise}`, { command, env })
    const { account, token } = await gateway.firstStart
    const port = Number(new URL(gateway.edge).port)
    await askOddly(port, odd)
    const { path, pid } = await gateway.logged('request')
    assert.equal(path, odd.toString('latin1'))
    for (const one of new Set([gateway.pid, Number(pid)])) {
      process.kill(one, 'SIGURG')
      const { err } = await gateway.logged('Node warning', line => line.pid === one)
      assert.equal((err as Error).message, 'provoked')
    }
    gateway.signal('SIGTERM')
    assert.deepEqual(await gateway.exited, { code: 0, signal: null })
    const told = (await gateway.stderr).trimEnd().split('\n')
    const [first, ...others] = told.map(line => JSON.parse(line))
    const { msg, level } = first
    assert.deepEqual([msg, level, others], ['first start: the store was empty', 'info', []])
    assert.deepEqual([first.account, first.gateway, first.token], [account, 'default', token])
    assert.ok(!JSON.stringify(gateway.lines).includes(token))
  })

test('stderr of a worker goes to the log', async t => {
  const script = `--import=data:text/javascript,process.on('SIGURG',()=>process.stderr.write('no%20JSON\\n'))`
  const gateway = await startGateway(t, `workers: 1${closed}`, { env: { NODE_OPTIONS: script } })
  const [worker] = readFileSync(`/proc/${gateway.pid}/task/${gateway.pid}/children`, 'utf8').split(' ')
  process.kill(Number(worker), 'SIGURG')
  const line = await gateway.logged('worker wrote to stderr')
  assert.deepEqual([line.worker, line.line], [Number(worker), 'no JSON'])
})

test('why a gateway does not start is a sentence at a terminal, and a JSON line elsewhere', async t => {
  const { admin, pid } = await startGateway(t, closed, { env: { NODE_OPTIONS: provokable } })
  const { host } = new URL(admin)
  const taken = `listen: ['127.0.0.1:0']\nadmin: ${host}${closed}`
  const sentence = `cannot listen on ${host}: the address is already in use by node (process ${pid}); choose another with --admin or the setting admin`
  const { terminal } = startAtTerminal(t, taken)
  assert.equal(await terminal.exited, 1)
  assert.ok(terminal.text.includes(`\ngatehouse: ${sentence}\r\n`), terminal.text)
  const file = writeConfig(t, taken)
  const { code, stderr } = await gatehouse(['start', '--config', file], { GATEHOUSE_DATA: dirname(file) })
  const { level, msg } = JSON.parse(stderr)
  assert.deepEqual([code, level, msg], [1, 'fatal', sentence])
})
