import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gatehouse } from '../help/command.ts'
import { freePort } from '../help/free-port.ts'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import { readMetrics } from '../help/prometheus.ts'
import { siteConfig, startSite } from '../help/site.ts'
import { thorough } from '../help/thorough.ts'

const reloaded = 'configuration reloaded'
const refused = 'configuration reload failed, keeping the previous one'

/** Starts a gateway before a site called `old`, with one called `new` standing by. */
async function startBetweenSites(t: TestContext, more = '') {
  const [before, after] = await Promise.all(
    ['old', 'new'].map(name => startSite(t, (_, response) => response.end(name))),
  )
  const gateway = await startGateway(t, siteConfig(before!, more))
  return { gateway, before: before!, after: after! }
}

/** Asks on a connection of its own, which any worker may get. */
async function served({ edge }: RunningGateway): Promise<string> {
  return (await fetch(edge, { headers: { connection: 'close' } })).text()
}

async function reloads(gateway: RunningGateway): Promise<Record<'success' | 'failure', number | undefined>> {
  const { samples } = readMetrics(await gateway.metrics())
  const count = (result: string) => samples.get(`gatehouse_config_reloads_total{result="${result}"}`)
  return { success: count('success'), failure: count('failure') }
}

for (const workers of thorough([0, 2], [2]))
  test(`a file or an address list with mistakes changes nothing, and the log names each of them; one without takes effect in every process (workers: ${workers})`, async t => {
    const { gateway, after } = await startBetweenSites(t, `workers: ${workers}`)
    gateway.rewrite(siteConfig(after, `workers: ${workers}\ncolour: red\nlimits: {url: tall}`))
    await gateway.logged(refused, ({ reason }) => String(reason).includes('colour'))
    await gateway.logged(refused, ({ reason }) => String(reason).includes('limits.url'))
    for (let i = 0; i < 8; i++) assert.equal(await served(gateway), 'old')
    assert.deepEqual(await reloads(gateway), { success: 0, failure: 1 })

    const list = join(dirname(gateway.file), 'list')
    const rules = `lists: {listed: ${list}}\naccess: {rules: [{deny: {list: listed}}]}`
    writeFileSync(list, 'x\n')
    gateway.rewrite(siteConfig(after, `workers: ${workers}\n${rules}`))
    const invalid = `${list}:1: must be an IP address or a CIDR network, one per line`
    await gateway.logged(refused, ({ reason }) => reason === invalid)
    for (let i = 0; i < 8; i++) assert.equal(await served(gateway), 'old')

    writeFileSync(list, '192.0.2.1\n')
    gateway.signal('SIGHUP')
    await gateway.logged(reloaded)
    for (let i = 0; i < 8; i++) assert.equal(await served(gateway), 'new')
    const { success, failure } = await reloads(gateway)
    assert.deepEqual([success, failure], [1, 2])
  })

test('SIGHUP reloads even when no file has changed', async t => {
  const { gateway } = await startBetweenSites(t)
  gateway.signal('SIGHUP')
  await gateway.logged(reloaded)
  assert.equal(await served(gateway), 'old')
})

test('a reload that changes restart-only settings is rejected by name, and the next valid one takes effect', async t => {
  const { gateway, after } = await startBetweenSites(t)
  gateway.rewrite(
    `listen: ['127.0.0.1:1']\nadmin: 127.0.0.1:2\n${siteConfig(after, 'workers: 3\nlog: {access: off}')}`,
  )
  const { reason } = await gateway.logged(refused)
  assert.equal(reason, 'restart required to change listen, admin, workers, log.access: run gatehouse upgrade')
  assert.equal(await served(gateway), 'old')
  gateway.rewrite(siteConfig(after))
  await gateway.logged(reloaded)
  assert.equal(await served(gateway), 'new')
})

test('a bug in a reload is logged as such, and changes nothing', async t => {
  const bug = `import path from 'node:path'; import { syncBuiltinESMExports } from 'node:module'
const { resolve } = path
let isBroken = false
process.on('SIGURG', () => { isBroken = true })
path.resolve = (...parts) => { if (isBroken) throw new Error('provoked'); return resolve(...parts) }
syncBuiltinESMExports()`
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(bug)}` }
  const site = await startSite(t, (_, response) => response.end('old'))
  const gateway = await startGateway(t, siteConfig(site), { env })
  gateway.signal('SIGURG')
  gateway.signal('SIGHUP')
  const { err } = await gateway.logged(refused)
  assert.equal((err as Error).message, 'provoked')
  assert.equal(await served(gateway), 'old')
  assert.deepEqual(await reloads(gateway), { success: 0, failure: 1 })
})

test('a reload changes the log level', async t => {
  const { gateway, after } = await startBetweenSites(t)
  gateway.rewrite(siteConfig(after, 'log: {sample: {2xx: 0}}'))
  await gateway.logged(reloaded)
  assert.equal(await served(gateway), 'new')
  await fetch(`${gateway.edge}/cdn-cgi/error/522`)
  await gateway.logged('request', ({ status }) => status === 522)
  assert.equal(
    gateway.lines.some(({ msg, status }) => msg === 'request' && status === 200),
    false,
  )
})

test('a request that began before a reload is finished with what it began with', async t => {
  const asked = Promise.withResolvers<() => void>()
  const slow = await startSite(t, (_, response) => asked.resolve(() => response.end('slow')))
  const fast = await startSite(t, (_, response) => response.end('fast'))
  const gateway = await startGateway(t, siteConfig(slow))
  const answer = served(gateway)
  const finish = await asked.promise
  gateway.rewrite(siteConfig(fast))
  await gateway.logged(reloaded)
  assert.equal(await served(gateway), 'fast')
  finish()
  assert.equal(await answer, 'slow')
})

test('the command `reload` says whether the configuration is applied, and if not, why', async t => {
  const site = await startSite(t, (_, response) => response.end('hello'))
  const [admin, other] = await Promise.all([freePort(), freePort()])
  const yaml = (more: string) =>
    siteConfig(site, `workers: 1\nlisten: ['127.0.0.1:0']\nadmin: 127.0.0.1:${admin}\n${more}`)
  const gateway = await startGateway(t, yaml(''))
  const env = { GATEHOUSE_DATA: join(dirname(gateway.file), 'data') }
  const attempt = async (more: string) => {
    gateway.rewrite(yaml(more))
    return gatehouse(['reload', '--config', gateway.file], env)
  }
  const first = await attempt('telemetry: { trace_context: on }')
  assert.deepEqual([first.code, first.stderr], [0, ''])
  // The gateway may have noticed the file before the command, or not.
  assert.match(
    first.stdout,
    /^(The configuration is in effect|No changes: Gatehouse applied the file already, at \S+):\n {2}changed {2}telemetry\.trace_context\n$/,
  )
  const again = await gatehouse(['reload', '--config', gateway.file, '--json'], env)
  const { latest, ...changes } = JSON.parse(again.stdout)
  assert.deepEqual([again.code, again.stderr, changes], [0, '', { changed: [], added: [], removed: [] }])
  assert.deepEqual(latest, { ...changes, changed: ['telemetry.trace_context'], at: latest.at })
  assert.ok(Math.abs(Date.parse(latest.at) - Date.now()) < 60_000)
  const bound = await attempt('log: { access: false }')
  assert.deepEqual(
    [bound.code, bound.stderr],
    [1, 'gatehouse: restart required to change log.access: run gatehouse upgrade\n'],
  )
  const wrong = await attempt('colour: red')
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /unknown setting "colour"/)
  const nobody = siteConfig(site, `admin: 127.0.0.1:${other}`)
  gateway.rewrite(`listen: ['127.0.0.1:0']\n${nobody}`)
  const elsewhere = await gatehouse(['reload', '--config', gateway.file], env)
  assert.match(elsewhere.stderr, /restart required to change admin/)
  const { code, stderr } = await gatehouse(['reload', '--config', gateway.file], { GATEHOUSE_DATA: '/none' })
  assert.deepEqual(
    [code, stderr],
    [1, `gatehouse: no gateway with this data folder responds at http://127.0.0.1:${other}\n`],
  )
})
