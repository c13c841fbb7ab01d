// docs/production.md as an operator follows it on one machine: its commands and its configuration, with a Redis of its own, and what the page promises of each.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { blocksOf, readPage, section } from '../help/docs.ts'
import { freePort } from '../help/free-port.ts'
import { main, type RunningGateway, spawnGateway } from '../help/gateway.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { type Message, Wire } from '../help/raw.ts'
import { endDaemon } from '../help/redis.ts'
import { startSite } from '../help/site.ts'
import { until } from '../help/until.ts'

const run = promisify(execFile)
const page = section(readPage('docs/production.md'), 'One machine')
const [build, secrets, certificates, redis, yaml, start, asks] = blocksOf(page)
const [umask] = secrets!.text.split('\n')
const reload = /`(npx gatehouse reload [^`]+)`/.exec(page.text)![1]!

test('docs/production.md works as written: two workers, TLS and Redis on one machine', async t => {
  const folder = quickFolder(t, 'production')
  const held: ServerResponse[] = []
  const origin = await startSite(t, ({ url }, response) => {
    if (url === '/slow') held.push(response)
    else response.end('hello')
  })
  const [redisPort, adminPort] = [await freePort(), await freePort()]
  const here = (text: string): string =>
    text
      .replaceAll(/^(openssl|redis-server)/gm, program => process.env[variables[program]!] ?? program)
      .replaceAll('npx gatehouse', `'${process.execPath}' '${main}'`)
      .replaceAll('6379', `${redisPort}`)
      .replaceAll('8081', `${adminPort}`)
  const { GATEHOUSE_DATA: _, ...env } = process.env
  // In one terminal, which keeps the umask that the first block sets.
  const sh = (text: string) => run('sh', ['-ec', `${umask}\n${here(text)}`], { cwd: folder, env })
  const read = (name: string) => readFileSync(join(folder, name), 'utf8').trim()

  // Done by `npm test` before the tests.
  assert.equal(build!.text, 'npm ci\nnpm run build\n')
  await sh(secrets!.text)
  await sh(certificates!.text)
  await sh(redis!.text)
  endDaemon(t, (await run('redis-cli', ['-p', `${redisPort}`, 'info', 'server'])).stdout)
  const settings = here(yaml!.text)
    .replace('http://127.0.0.1:9000', origin)
    .replaceAll(/0\.0\.0\.0:\d+/g, '127.0.0.1:0')
  const write = (text: string) => writeFileSync(join(folder, 'my.yaml'), text)
  write(settings)

  const [check, starts] = start!.text.trim().split('\n')
  await sh(check!)
  const [, name, file, args] = /^(\w+)=(\S+) node_modules\/\.bin\/node dist\/main\.js start (.*)$/.exec(
    starts!,
  )!
  const gateway = await spawnGateway(t, [main, 'start', ...args!.split(' ')], {
    cwd: folder,
    env: { ...env, [name!]: file },
  })
  const [plain, secure] = ((await gateway.logged('ready')).edge as readonly { port: number }[]).map(
    ({ port }) => port,
  )
  const curl = async (line: string) => {
    const [program, ...words] = here(line).replace('8443', `${secure}`).replace('8080', `${plain}`).split(' ')
    assert.equal(program, 'curl')
    return (await run(process.env.CURL ?? program, ['-s', ...words], { cwd: folder })).stdout
  }
  const [site, ready, metrics] = asks!.text.trim().split('\n')
  const token = read('first-token')

  await t.test('the site is there by TLS, and the gateway is ready and counts', async () => {
    assert.equal(await curl(site!), 'hello')
    assert.equal(JSON.parse(await curl(ready!)).status, 'ready')
    const counted = await curl(metrics!)
    assert.match(counted, /^gatehouse_store_up 1$/m)
    assert.match(counted, /^gatehouse_requests_total\{zone="shop.localhost",status_class="2xx"\} 1$/m)
  })

  await t.test('plain HTTP leads to TLS, which alone states HSTS', async () => {
    const led = await curl('curl -i http://shop.localhost:8080/a?b=c')
    assert.match(led, /^HTTP\/1\.1 308 /)
    assert.match(led, new RegExp(`^location: https://shop\\.localhost:${secure}/a\\?b=c\\r$`, 'im'))
    assert.doesNotMatch(led, /strict-transport-security/i)
    assert.match(await curl(`${site!} -i`), /^strict-transport-security: max-age=31536000\r$/im)
  })

  const lines = await lineToEach(t, gateway, { port: secure!, ca: read('ca.pem') })
  const pids = [gateway.pid, ...lines.keys()]

  await t.test('both workers serve, and what they count is put together', async () => {
    const counts = async () =>
      [...(await curl(metrics!)).matchAll(/^gatehouse_requests_total\{.*\} (\d+)$/gm)].reduce(
        (sum, [, count]) => sum + Number(count),
        0,
      )
    const before = await counts()
    for (const line of lines.values()) assert.equal((await ask(line, '/')).text, 'hello')
    assert.equal(await counts(), before + 2)
  })

  await t.test('the first token opens the management API, and neither it nor the key is told', async () => {
    const headers = { Authorization: `Bearer ${token}` }
    const response = await fetch(`${gateway.admin}/client/v4/accounts`, { headers })
    assert.equal(((await response.json()) as { success: boolean }).success, true)
    const told = [
      JSON.stringify(gateway.lines),
      ...pids.flatMap(pid =>
        ['cmdline', 'environ'].map(what => readFileSync(`/proc/${pid}/${what}`, 'utf8')),
      ),
    ]
    for (const secret of [token, read('secrets.key')]) assert.ok(told.every(text => !text.includes(secret)))
  })

  await t.test('what is written is for its owner alone: secrets here, the rest in Redis', async () => {
    const inData = readdirSync(join(folder, 'data')).map(name => `data/${name}`)
    for (const name of inData) assert.match(name, /^data\/(side-port-\d+\.handover|store\.json|zones\.json)$/)
    for (const name of ['secrets.key', 'first-token', 'ca.key', 'shop.key', ...inData])
      assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name)
    const redisCli = async (...words: string[]) =>
      (await run('redis-cli', ['-p', `${redisPort}`, ...words])).stdout.trim().split('\n')
    assert.deepEqual(
      (await redisCli('--scan')).filter(key => !key.startsWith('{gatehouse}:')),
      [],
    )
    const kept = ['appendonly', 'yes', 'appendfsync', 'always', 'maxmemory-policy', 'noeviction']
    for (let i = 0; i < kept.length; i += 2)
      assert.deepEqual(await redisCli('config', 'get', kept[i]!), kept.slice(i, i + 2))
    const log = join(folder, 'redis/appendonlydir')
    const written = readdirSync(log).map(name => readFileSync(join(log, name), 'latin1'))
    assert.ok(written.some(text => text.includes('{gatehouse}:tokens')))
    for (const secret of [token, read('secrets.key')])
      assert.ok(written.every(text => !text.includes(secret)))
  })

  const hsts = (days: number) => settings.replace('hsts: 365d', `hsts: ${days}d`)
  const ages = async () => {
    const told = await Promise.all([...lines.values()].map(line => ask(line, '/')))
    return told.map(response => Number(response.field('strict-transport-security')!.slice(8)) / 86_400)
  }

  await t.test('both workers apply a change once it is saved', async () => {
    write(hsts(30))
    await gateway.logged('configuration reloaded')
    await until(async () => (await ages()).every(days => days === 30))
  })

  await t.test('the command `reload` returns when both have applied it, or says what is wrong', async () => {
    write(hsts(60))
    await sh(reload)
    assert.deepEqual(await ages(), [60, 60])
    write(settings.replace('hsts: 365d', 'hsts: soon'))
    await assert.rejects(sh(reload), { code: 2, stderr: /my\.yaml:\d+:\d+ .*hsts/ })
    assert.deepEqual(await ages(), [60, 60])
  })

  await t.test('at SIGTERM it finishes what runs, takes nothing more, and leaves no process', async () => {
    const [busy, idle] = [...lines.values()]
    const answer = ask(busy!, '/slow')
    await until(() => held.length === 1)
    gateway.signal('SIGTERM')
    await gateway.logged('stopping')
    await idle!.ending
    await assert.rejects(curl(site!), { code: 7 })
    assert.equal(JSON.parse(await curl(ready!)).status, 'unready')
    held[0]!.end('slow')
    const response = await answer
    assert.deepEqual([response.text, response.field('connection')], ['slow', 'close'])
    assert.deepEqual(await gateway.exited, { code: 0, signal: null })
    assert.ok(!(await gateway.stderr).includes(token))
    for (const pid of pids) assert.throws(() => process.kill(pid as number, 0), { code: 'ESRCH' })
  })
})

/** Opens connections until each worker has one; the access log says whose each is. */
async function lineToEach(
  t: TestContext,
  gateway: RunningGateway,
  to: { readonly port: number; readonly ca: string },
): Promise<ReadonlyMap<unknown, Wire>> {
  const lines = new Map<unknown, Wire>()
  while (lines.size < 2) {
    const socket = connect({ host: '127.0.0.1', servername: 'shop.localhost', ...to })
    t.after(() => socket.destroy())
    await once(socket, 'secureConnect')
    const wire = new Wire(socket)
    const ray = (await ask(wire, '/')).field('svc-ray')
    const { pid } = await gateway.logged('request', line => line.ray === ray)
    if (lines.has(pid)) wire.leave()
    else lines.set(pid, wire)
  }
  return lines
}

async function ask(wire: Wire, target: string): Promise<Message> {
  await wire.send(`GET ${target} HTTP/1.1\r\nHost: shop.localhost\r\n\r\n`)
  return wire.response()
}

/** What names another place of a program. */
const variables: Readonly<Record<string, string>> = { openssl: 'OPENSSL', 'redis-server': 'REDIS_SERVER' }
