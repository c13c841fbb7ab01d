import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { version } from '../../src/process/system/version.ts'
import { gatehouse } from '../help/command.ts'
import { main, RunningGateway, startGateway, writeConfig } from '../help/gateway.ts'
import { siteConfig, startSite } from '../help/site.ts'
import { root } from '../help/source.ts'
import { thorough } from '../help/thorough.ts'
import { until } from '../help/until.ts'

const closed = siteConfig('http://127.0.0.1:1')

/** Takes a port of loopback for the time of the test. */
async function takePort(t: TestContext): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

test('the log has the real addresses and the version, and each start and stop', async t => {
  const gateway = await startGateway(t, closed.replace('hosts: [127.0.0.1]', 'hosts: [localhost]'))
  gateway.signal('SIGTERM')
  await gateway.exited
  assert.deepEqual(
    gateway.lines.map(({ msg }) => msg),
    [
      'created the key that protects client secrets; back it up together with the store',
      'ready',
      'stopping',
      'stopped',
    ],
  )
  const { version: started, program } = gateway.lines[1]!
  assert.deepEqual([started, program], [version, main.endsWith('.ts') ? 'sources' : 'package'])
})

test('the start and a check warn of a site on the host of the side port, and the health command, which sees the gateway, does not', async t => {
  const gateway = await startGateway(t, closed)
  const shared = /zones\[0\]\.hosts\[0\]: the side port has this host too/
  assert.equal(gateway.lines.filter(({ msg, level }) => level === 'warn' && shared.test(msg)).length, 1)
  const check = await gatehouse(['check', '--config', gateway.file])
  assert.deepEqual([check.code, shared.test(check.stderr)], [0, true])
  gateway.rewrite(`listen: ['127.0.0.1:0']\nadmin: ${new URL(gateway.admin).host}${closed}`)
  const health = await gatehouse(['health', '--config', gateway.file, '--timeout', '30'])
  assert.deepEqual(health, { code: 0, stdout: '', stderr: '' })
})

test('a gateway that is stopped while its workers start ends well, without an error', async t => {
  // Said by workers alone: the gateway itself has no channel.
  const said = `--import=data:text/javascript,if(process.send)console.log('{%22msg%22:%22worker%20loads%22}')`
  const file = writeConfig(t, `workers: 2${closed}`)
  const env = { ...process.env, GATEHOUSE_DATA: join(dirname(file), 'data'), NODE_OPTIONS: said }
  const child = spawn(process.execPath, [main, 'start', '--config', file], { env, detached: true })
  t.after(() => child.kill('SIGKILL'))
  const gateway = new RunningGateway(child, file)
  await gateway.logged('worker loads')
  // To all processes, as systemd and terminals send it: a worker that loads its code ends by it.
  process.kill(-gateway.pid, 'SIGTERM')
  assert.deepEqual(await gateway.exited, { code: 0, signal: null })
  assert.equal(await gateway.stderr, '')
  const failures = gateway.lines.filter(({ level }) => level === 'error' || level === 'fatal')
  assert.deepEqual(failures, [])
  assert.equal(gateway.lines.at(-1)?.msg, 'stopped')
})

for (const command of ['start', 'demo'] as const)
  test(`a given first token is valid, and appears neither in log nor greeting nor in the environment of a worker (${command})`, async t => {
    const { stdout } = await gatehouse(['token', 'generate'])
    const token = stdout.trim()
    const env = { GATEHOUSE_FIRST_TOKEN: token }
    const gateway = await startGateway(t, `workers: 1${closed}`, { command, env })
    const headers = { authorization: `Bearer ${token}` }
    const scopes = `${gateway.admin}/client/v4/oauth/scopes`
    await until(async () => (await fetch(scopes, { headers })).status !== 401)
    assert.equal((await fetch(scopes, { headers })).status, 200)
    const children = readFileSync(`/proc/${gateway.pid}/task/${gateway.pid}/children`, 'utf8').trim()
    assert.notEqual(children, '')
    for (const pid of children.split(' '))
      assert.ok(!readFileSync(`/proc/${pid}/environ`, 'utf8').includes(token))
    gateway.signal('SIGTERM')
    const told = await gateway.stderr
    assert.match(told, /"msg":"first start: the store was empty"/)
    assert.doesNotMatch(told, /"token"/)
    assert.ok(!told.includes(token) && !JSON.stringify(gateway.lines).includes(token))
  })

test('an invalid first token stops the start, with exit code 2 and without its value', async t => {
  const file = writeConfig(t, closed)
  const GATEHOUSE_FIRST_TOKEN = 'hunter2'
  const { code, stderr } = await gatehouse(['start', '--config', file], { GATEHOUSE_FIRST_TOKEN })
  assert.equal(code, 2)
  assert.match(stderr, /^gatehouse: GATEHOUSE_FIRST_TOKEN must be a token/)
  assert.ok(!stderr.includes(GATEHOUSE_FIRST_TOKEN))
})

test('with nothing on the port the first request shows a 521 in the requested format, documented by the gateway itself; health and metrics respond on the admin listener alone', async t => {
  const gateway = await startGateway(t, closed)
  const ask = (accept: string) => fetch(gateway.edge, { headers: { accept } })
  const problem = (await (await ask('application/json')).json()) as { error_code: number; type: string }
  assert.equal(problem.error_code, 521)
  assert.equal(problem.type, `${gateway.edge}/cdn-cgi/error/521/about`)
  assert.equal((await fetch(problem.type)).status, 200)
  assert.match(await (await ask('text/markdown')).text(), /## What Happened/)
  assert.match(await (await ask('text/html')).text(), /<html lang="en">/)
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    assert.equal((await fetch(gateway.admin + path)).status, 200, path)
    assert.equal((await fetch(gateway.edge + path)).status, 521, path)
  }
})

for (const workers of thorough([0, 2], [1])) {
  test(`an address in use is named in a sentence, exit code 1 (workers: ${workers})`, async t => {
    const port = await takePort(t)
    const taken = `cannot listen on 127.0.0.1:${port}: the address is already in use by node (process ${process.pid})`
    for (const [edge, admin, how] of [
      [port, 0, '--listen, PORT or the setting listen'],
      [0, port, '--admin or the setting admin'],
    ]) {
      const yaml = `listen: ['127.0.0.1:${edge}']\nadmin: 127.0.0.1:${admin}\nworkers: ${workers}${closed}`
      const { code, stderr } = await gatehouse(['start', '--config', writeConfig(t, yaml)])
      assert.deepEqual([code, JSON.parse(stderr).msg], [1, `${taken}; choose another with ${how}`])
    }
  })
}

test('the default configuration serves localhost from the origin in ORIGIN', async t => {
  const shipped = readFileSync(join(root, 'config/gatehouse.yaml'), 'utf8')
  const ORIGIN = await startSite(t, ({ headers }, response) => response.end(headers.host))
  const gateway = await startGateway(t, shipped, { env: { ORIGIN } })
  const { port } = new URL(gateway.edge)
  const response = await fetch(`http://localhost:${port}/`)
  assert.deepEqual([response.status, await response.text()], [200, `localhost:${port}`])
  assert.match(response.headers.get('svc-ray')!, /^[0-9a-f]{16}$/)
})

test('by default localhost is as good as 127.0.0.1 for AI calls, and the origin sees no token by either', async t => {
  const shipped = readFileSync(join(root, 'config/gatehouse.yaml'), 'utf8')
  const seen: string[] = []
  const ORIGIN = await startSite(t, ({ url, rawHeaders }, response) => {
    seen.push(`${url} ${rawHeaders}`)
    response.end('site')
  })
  const gateway = await startGateway(t, shipped, { env: { ORIGIN } })
  const { account, token } = await gateway.firstStart
  const { port } = new URL(gateway.edge)
  const body = JSON.stringify({ model: 'nobody/model', messages: [] })
  for (const host of ['127.0.0.1', 'localhost'])
    for (const name of ['Authorization', 'svc-aig-authorization']) {
      const ask = async (path: string) => {
        const headers = { [name]: `Bearer ${token}`, 'content-type': 'application/json' }
        const response = await fetch(`http://${host}:${port}${path}`, { method: 'POST', headers, body })
        return [response.status, await response.text()] as const
      }
      const [status, text] = await ask(`/client/v4/accounts/${account}/ai/v1/chat/completions`)
      // A call that is let in has an unknown model; one with its token in the other field is told so.
      assert.equal(status, name === 'Authorization' ? 404 : 400, text)
      for (const path of ['/', '/v1/chat/completions', `/client/v4/accounts/${account}/tokens`]) {
        const [status, text] = await ask(path)
        // The site is on localhost alone; elsewhere the short route is one for AI calls.
        const isMisplaced = path.startsWith('/v1/') && name !== 'Authorization'
        assert.equal(status, host === 'localhost' || isMisplaced ? 400 : 404, text)
        if (host === 'localhost') assert.match(JSON.parse(text).detail, /AI calls belong to this host/)
      }
    }
  assert.equal(await (await fetch(`http://localhost:${port}/`)).text(), 'site')
  assert.equal(seen.length, 1)
  assert.doesNotMatch(seen[0]!, /svct_/)
})

test('an origin whose certificate is not verified is warned about', async t => {
  const gateway = await startGateway(
    t,
    `
pools: {site: {origins: [{url: 'https://127.0.0.1:1', verify: false}]}}
zones: [{hosts: [127.0.0.1], routes: [{path: /, pool: site}]}]`,
  )
  const warning = gateway.lines.find(({ level }) => level === 'warn')!.msg
  assert.match(warning, /gatehouse\.yaml:4:\d+ pools\.site\.origins\[0\]: verify is off/)
})
