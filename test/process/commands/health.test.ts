import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { basename, dirname } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gatehouse, quickGatehouse } from '../../help/command.ts'
import { main, spawnGateway, startGateway, writeConfig } from '../../help/gateway.ts'
import { quickFolder } from '../../help/quick-folder.ts'
import { siteConfig } from '../../help/site.ts'

const closed = siteConfig('http://127.0.0.1:1')
/** A machine that is busy with other tests may take longer than any gateway should. */
const patiently = ['--timeout', '30'] as const
const well = { code: 0, stdout: '', stderr: '' }

/** Returns variables with a data folder of their own, and a configuration whose side port nobody has. */
function elsewhere(t: TestContext): { GATEHOUSE_DATA: string; GATEHOUSE_CONFIG: string } {
  const GATEHOUSE_DATA = quickFolder(t, 'health')
  return {
    GATEHOUSE_DATA,
    GATEHOUSE_CONFIG: writeConfig(t, `listen: ['127.0.0.1:0']\nadmin: 127.0.0.1:1${closed}`),
  }
}

for (const [workers, admin] of [
  [0, '127.0.0.1:0'],
  [2, '127.0.0.2:0'],
  [0, '0.0.0.0:0'],
  [0, "'[::1]:0'"],
  [0, "'[::]:0'"],
] as const)
  test(`a gateway is found by the data folder, not by its configuration (workers: ${workers}, admin: ${admin})`, async t => {
    const env = elsewhere(t)
    const file = writeConfig(t, `workers: ${workers}\nlisten: ['127.0.0.1:0']\nadmin: ${admin}${closed}`)
    // As in a container: the path is relative to where the gateway was started, and the check knows nothing of it.
    const options = { cwd: dirname(file), env: { ...process.env, ...env } }
    const gateway = await spawnGateway(t, [main, 'start', '--config', basename(file)], options)
    assert.deepEqual(await quickGatehouse(['health', '--running', ...patiently], env), well)
    gateway.signal('SIGTERM')
    await gateway.exited
    const gone = { code: 1, stdout: '', stderr: 'gatehouse: http://127.0.0.1:1/healthz does not respond\n' }
    assert.deepEqual(await quickGatehouse(['health', '--running'], env), gone)
  })

test('a gateway stays healthy while its file has mistakes', async t => {
  const env = elsewhere(t)
  const gateway = await startGateway(t, closed, { env })
  gateway.rewrite('colour: blue')
  assert.deepEqual(
    await quickGatehouse(['health', '--running', '--config', gateway.file, ...patiently], env),
    well,
  )
  assert.equal((await quickGatehouse(['health', '--config', gateway.file], env)).code, 2)
})

test('a gateway that hangs is unhealthy, and so is one that was killed', async t => {
  const env = elsewhere(t)
  const gateway = await startGateway(t, closed, { env })
  gateway.signal('SIGSTOP')
  const hung = await quickGatehouse(['health', '--running', '--timeout', '0.5'], env)
  assert.deepEqual([hung.code, hung.stderr], [1, `gatehouse: process ${gateway.pid} does not respond\n`])
  gateway.signal('SIGKILL')
  await gateway.exited
  assert.equal((await quickGatehouse(['health', '--running'], env)).code, 1)
})

test('each of several gateways with this data folder is checked, and no others', async t => {
  const [env, other] = [elsewhere(t), elsewhere(t)]
  const [first, second] = [await startGateway(t, closed, { env }), await startGateway(t, closed, { env })]
  const stranger = await startGateway(t, closed, { env: other })
  stranger.signal('SIGSTOP')
  assert.deepEqual(await quickGatehouse(['health', '--running', ...patiently], env), well)
  first.signal('SIGSTOP')
  t.after(() => first.signal('SIGCONT'))
  const outcome = await quickGatehouse(['health', '--running', '--timeout', '10'], env)
  assert.deepEqual([outcome.code, outcome.stderr], [1, `gatehouse: process ${first.pid} does not respond\n`])
  assert.notEqual(first.pid, second.pid)
})

test('a socket with the name of a process that sends nonsense does not count as healthy', async t => {
  const env = elsewhere(t)
  const gateway = await startGateway(t, closed, { env })
  const [name] = /@gatehouse\/.*/.exec(await namesOf(gateway.pid))!
  const liar = createServer(socket => socket.on('error', () => {}).end('nonsense'))
  liar.listen(`\0${name.slice(1).replace(/\d+$/, String(process.pid))}`)
  await once(liar, 'listening')
  const outcome = await quickGatehouse(['health', '--running', ...patiently], env)
  liar.close()
  assert.deepEqual(
    [outcome.code, outcome.stderr],
    [1, `gatehouse: process ${process.pid} does not respond\n`],
  )
})

test('a socket with the name of another process is not asked', async t => {
  const env = elsewhere(t)
  const gateway = await startGateway(t, closed, { env })
  const [name] = /@gatehouse\/.*/.exec(await namesOf(gateway.pid))!
  const other = spawn('sleep', ['60'])
  t.after(() => other.kill())
  const liar = createServer(socket => socket.on('error', () => {}).end('nonsense'))
  t.after(() => liar.close())
  liar.listen(`\0${name.slice(1).replace(/\d+$/, String(other.pid))}`)
  await once(liar, 'listening')
  assert.deepEqual(await quickGatehouse(['health', '--running', ...patiently], env), well)
})

/** Starts something in place of a side port that responds after a time, and writes the file that leads to it. */
async function slowSidePort(t: TestContext, ms: number): Promise<string> {
  const slow = http.createServer((_, response) => void setTimeout(() => response.end('ok'), ms))
  t.after(() => slow.close().closeAllConnections())
  slow.listen(0, '127.0.0.1')
  await once(slow, 'listening')
  const { port } = slow.address() as AddressInfo
  return writeConfig(t, `listen: ['127.0.0.1:0']\nadmin: 127.0.0.1:${port}${closed}`)
}

test('a check takes two seconds at most, unless another timeout is given', async t => {
  const file = await slowSidePort(t, 2_500)
  const check = (...more: string[]) => gatehouse(['health', '--config', file, ...more])
  const [usual, short, long] = await Promise.all([
    check(),
    check('--timeout', '0.2'),
    check('--timeout', '60'),
  ])
  assert.deepEqual(long, well)
  for (const { code, stderr } of [usual, short]) {
    assert.equal(code, 1)
    assert.match(stderr, /^gatehouse: http:\/\/127\.0\.0\.1:\d+\/healthz does not respond\n$/)
  }
})

test('a timeout that is none is refused, with what it must be', async () => {
  for (const timeout of ['0', '3601', '1s', '1e3', '', 'Infinity']) {
    const { code, stderr } = await quickGatehouse(['health', '--timeout', timeout])
    assert.deepEqual(
      [code, stderr],
      [2, 'gatehouse: --timeout must be a number of seconds, above 0 and at most 3600\n'],
    )
  }
})

/** Returns the line of the system's list of Unix sockets that names the process. */
async function namesOf(pid: number): Promise<string> {
  const child = spawn('grep', [`@gatehouse/.*/${pid}$`, '/proc/net/unix'])
  const [line] = await Promise.all([child.stdout.toArray(), once(child, 'close')])
  return Buffer.concat(line).toString().trimEnd()
}
