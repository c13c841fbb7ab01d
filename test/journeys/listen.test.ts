// Where a gateway listens: options and variables before the file, from the start through reloads and upgrades.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gatehouse, quickGatehouse } from '../help/command.ts'
import { freePort } from '../help/free-port.ts'
import { main, spawnGateway, writeConfig } from '../help/gateway.ts'
import { SharedLog } from '../help/shared-log.ts'
import { siteConfig, startSite } from '../help/site.ts'
import { thorough } from '../help/thorough.ts'
import { until } from '../help/until.ts'

/** Writes the configuration of a site that says `hello`, whose addresses are taken. */
async function prepare(t: TestContext, more = '') {
  const origin = await startSite(t, (_, response) => response.end('hello'))
  const [edge, admin] = await Promise.all([freePort(), freePort()])
  const addresses = `listen: ['127.0.0.1:1']\nadmin: 127.0.0.1:2\n`
  const file = writeConfig(t, siteConfig(origin, addresses + more))
  const env = { ...process.env, GATEHOUSE_DATA: join(dirname(file), 'data') }
  return { file, env, edge, admin: `127.0.0.1:${admin}`, url: `http://127.0.0.1:${edge}/` }
}

async function hello(url: string): Promise<string> {
  return (await fetch(url)).text()
}

test('PORT and --admin are where it listens, and commands find it there with --admin or by its file', async t => {
  const { file, env, edge, admin, url } = await prepare(t)
  const args = [main, 'start', '--admin', admin, '--config', file]
  const gateway = await spawnGateway(t, args, { env: { ...env, PORT: `${edge}` } }, file)
  assert.deepEqual([gateway.edge, gateway.admin], [url.slice(0, -1), `http://${admin}`])
  assert.equal(await hello(url), 'hello')
  // The one without --admin has the file alone to go by, which names another side port.
  for (const more of [['--admin', admin], []])
    assert.deepEqual(await quickGatehouse(['reload', ...more, '--config', file], env), {
      code: 0,
      stdout: 'No changes: the configuration was in effect already.\n',
      stderr: '',
    })
  await until(() => gateway.lines.filter(({ msg }) => msg === 'configuration reloaded').length === 2)
  assert.equal(
    (await quickGatehouse(['health', '--admin', admin, '--config', file, '--timeout', '30'], env)).code,
    0,
  )
  const elsewhere = await quickGatehouse(['health', '--config', file], env)
  assert.deepEqual(
    [elsewhere.code, elsewhere.stderr],
    [1, 'gatehouse: http://127.0.0.1:2/healthz does not respond\n'],
  )
  const other = await quickGatehouse(['reload', '--admin', '127.0.0.1:4', '--config', file], env)
  assert.deepEqual(
    [other.code, other.stderr],
    [1, 'gatehouse: no gateway with this data folder responds at http://127.0.0.1:4\n'],
  )
  // What the file has is not looked at, so it may change.
  writeFileSync(file, readFileSync(file, 'utf8').replace('127.0.0.1:1', '127.0.0.1:3'))
  assert.equal((await quickGatehouse(['reload', '--config', file], env)).code, 0)
  assert.equal(await hello(url), 'hello')
})

test('with two gateways, reload and user invite find the one with the file, and ask if both have it', async t => {
  const { file, env, admin } = await prepare(t, 'dashboard: { host: localhost }\n')
  const [edge, otherEdge, sidePort] = await Promise.all([freePort(), freePort(), freePort()])
  const other = `127.0.0.1:${sidePort}`
  const start = (at: string, port: number, path: string) =>
    spawnGateway(
      t,
      [main, 'start', '--admin', at, '--config', path],
      { env: { ...env, PORT: `${port}` } },
      path,
    )
  // Both files name the side port of the first.
  const files = [file, writeConfig(t, readFileSync(file, 'utf8'))] as const
  for (const path of files)
    writeFileSync(path, readFileSync(path, 'utf8').replace('admin: 127.0.0.1:2', `admin: ${admin}`))
  const first = await start(admin, edge, files[0])
  const second = await start(other, otherEdge, files[1])
  const reloads = ({ lines }: typeof first) =>
    lines.filter(({ msg }) => msg === 'configuration reloaded').length
  assert.equal((await quickGatehouse(['reload', '--config', files[1]], env)).code, 0)
  await until(() => reloads(second) === 1)
  assert.equal(reloads(first), 0)
  assert.equal((await quickGatehouse(['reload', '--config', files[0]], env)).code, 0)
  await until(() => reloads(first) === 1)
  assert.equal(reloads(second), 1)
  const invited = await quickGatehouse(['user', 'invite', '--config', files[1]], env)
  assert.equal(new URL(invited.stdout).origin, `http://localhost:${otherEdge}`, invited.stderr)
  // Neither is where the file says.
  writeFileSync(files[1], readFileSync(files[1], 'utf8').replace(`admin: ${admin}`, 'admin: 127.0.0.1:2'))
  const third = `127.0.0.1:${await freePort()}`
  await start(third, await freePort(), files[1])
  const { code, stderr } = await quickGatehouse(['reload', '--config', files[1]], env)
  assert.equal(code, 1)
  assert.match(stderr, /^gatehouse: several gateways run with \S+: choose one with --admin, at \S+ or \S+\n$/)
  for (const at of [other, third]) assert.ok(stderr.includes(at), stderr)
  // One of them is.
  writeFileSync(files[1], readFileSync(files[1], 'utf8').replace('admin: 127.0.0.1:2', `admin: ${other}`))
  assert.equal((await quickGatehouse(['reload', '--config', files[1]], env)).code, 0)
})

for (const workers of thorough([0, 1], [1]))
  test(`an upgrade keeps the addresses that were given (workers: ${workers})`, async t => {
    const { file, env, edge, admin, url } = await prepare(t, `workers: ${workers}\n`)
    const args = [main, 'start', '--listen', `127.0.0.1:${edge}`, '--admin', admin, '--config', file]
    // --listen comes first.
    const given = { ...env, PORT: '1' }
    const child = spawn(process.execPath, args, { env: given, stdio: ['ignore', 'pipe', 'inherit'] })
    const log = new SharedLog(child)
    t.after(() => {
      for (const pid of new Set(log.lines.map(({ pid }) => pid)))
        try {
          process.kill(pid, 'SIGKILL')
        } catch {}
    })
    await log.nth('ready')
    assert.equal(await hello(url), 'hello')
    const exited = once(child, 'exit')
    const upgrade = await gatehouse(['upgrade', '--config', file], env)
    assert.deepEqual([upgrade.code, upgrade.stderr], [0, ''])
    await exited
    assert.equal(await hello(url), 'hello')
    assert.equal((await fetch(`http://${admin}/readyz`)).status, 200)
  })

test('--replace takes over where both have the same --admin', async t => {
  const { file, env, edge, admin, url } = await prepare(t)
  const start = (...more: string[]) =>
    spawnGateway(t, [main, 'start', '--admin', admin, ...more, '--config', file], {
      env: { ...env, PORT: `${edge}` },
    })
  const first = await start()
  await start('--replace')
  assert.deepEqual(await first.exited, { code: 0, signal: null })
  await until(async () => (await fetch(`http://${admin}/readyz`)).status === 200)
  assert.equal(await hello(url), 'hello')
})

test('start and check refuse a PORT that is none, or not clear, and other commands do not look at it', async t => {
  const { file, env } = await prepare(t)
  const text = readFileSync(file, 'utf8')
  const unclear = text.replace("['127.0.0.1:1']", "['127.0.0.1:1', '127.0.0.1:3']")
  for (const [yaml, PORT, sentence] of [
    [text, 'abc', 'PORT must be a whole number from 0 to 65535; got "abc"'],
    [
      unclear,
      '3000',
      `PORT is for the one listener without tls, but listen has 2: write \${PORT} in the file where it is meant, or unset it`,
    ],
  ] as const) {
    writeFileSync(file, yaml)
    for (const command of ['start', 'check']) {
      const { code, stderr } = await gatehouse([command, '--config', file], { ...env, PORT })
      if (command === 'check') assert.deepEqual([code, stderr], [2, `${sentence}\n`])
      else assert.ok(code === 2 && stderr.includes(sentence), stderr)
    }
    const { code, stderr } = await quickGatehouse(['reload', '--config', file], { ...env, PORT })
    assert.deepEqual([code, stderr.includes('PORT')], [1, false])
  }
})
