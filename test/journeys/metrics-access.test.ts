// Who sees the metrics: by where the side port listens, how a request came, and the setting; probes see whether it is alive all the while.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { test } from 'node:test'
import { gatehouse } from '../help/command.ts'
import { type RunningGateway, startGateway } from '../help/gateway.ts'
import { readMetrics } from '../help/prometheus.ts'
import { siteConfig } from '../help/site.ts'
import { thorough } from '../help/thorough.ts'

const closed = siteConfig('http://127.0.0.1:1')
const listen = "listen: ['127.0.0.1:0']\n"

/** Returns the statuses of what an operator's machines ask. */
async function statuses(url: string, token?: string): Promise<Readonly<Record<string, number>>> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const paths = ['/metrics', '/healthz', '/readyz']
  const all = paths.map(async path => [path.slice(1), (await fetch(url + path, { headers })).status])
  return Object.fromEntries(await Promise.all(all))
}

async function tokenFor({ file }: RunningGateway, permission: string): Promise<string> {
  const args = ['token', 'create', '--config', file, '--permission', permission]
  const { stdout } = await gatehouse(args, { GATEHOUSE_DATA: file.replace(/[^/]+$/, 'data') })
  return /svct_\S+/.exec(stdout)![0]
}

for (const workers of thorough([0, 2], [1]))
  test(`away from loopback, metrics need a token with their permission (workers: ${workers})`, async t => {
    const env = { GATEHOUSE_ADMIN: '0.0.0.0:0' }
    const gateway = await startGateway(t, `${listen}workers: ${workers}${closed}`, { env })
    const { token: owner } = await gateway.firstStart
    const url = gateway.admin.replace('0.0.0.0', '127.0.0.1')
    assert.deepEqual(await statuses(url), { metrics: 401, healthz: 200, readyz: 200 })
    assert.deepEqual(await statuses(url, 'svct_wrong'), { metrics: 401, healthz: 200, readyz: 200 })
    const refused = await fetch(`${url}/metrics`)
    assert.match(
      refused.headers.get('www-authenticate')!,
      /^Bearer resource_metadata="http:\/\/127\.0\.0\.1:\d+\/\.well-known\/oauth-protected-resource", scope="metrics\.read"$/,
    )
    assert.doesNotMatch(await refused.text(), /gatehouse_/)
    const caller = await tokenFor(gateway, 'AI Gateway Run')
    assert.equal((await statuses(url, caller)).metrics, 403)
    const scraper = await tokenFor(gateway, 'Metrics Read')
    for (const token of [owner, scraper])
      assert.deepEqual(await statuses(url, token), { metrics: 200, healthz: 200, readyz: 200 })
    const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${scraper}` } })
    const { samples } = readMetrics(await response.text())
    assert.equal(samples.get('gatehouse_management_refusals_total{reason="forbidden"}'), 1)
  })

test('on loopback, metrics are open to direct connections, and through a zone they need a token', async t => {
  const config = (admin: string) => `
pools: { side: { origins: [${admin}] } }
zones: [{ default: true, routes: [{ path: /, pool: side }] }]
`
  const gateway = await startGateway(t, config('http://127.0.0.1:1'))
  gateway.rewrite(config(gateway.admin))
  await gateway.logged('configuration reloaded')
  assert.deepEqual(await statuses(gateway.admin), { metrics: 200, healthz: 200, readyz: 200 })
  assert.deepEqual(await statuses(gateway.edge), { metrics: 401, healthz: 200, readyz: 200 })
  const { token } = await gateway.firstStart
  assert.equal((await statuses(gateway.edge, token)).metrics, 200)
  const headers = { 'X-Forwarded-For': '127.0.0.1' }
  assert.equal((await fetch(`${gateway.admin}/metrics`, { headers })).status, 401)
})

test('a page of a site whose name leads to loopback does not read the metrics', async t => {
  const { admin } = await startGateway(t, closed)
  const { port } = new URL(admin)
  const statusFor = async (host: string) => {
    const [response] = await once(request(`${admin}/metrics`, { headers: { host } }).end(), 'response')
    return (response as IncomingMessage).resume().statusCode
  }
  for (const host of [
    'localhost',
    `LOCALHOST:${port}`,
    'a.localhost',
    '127.0.0.1',
    `127.0.0.9:${port}`,
    '[::1]:80',
  ])
    assert.equal(await statusFor(host), 200, host)
  for (const host of [
    'site.example',
    `site.example:${port}`,
    '127.0.0.1.site.example',
    'notlocalhost',
    'x@127.0.0.1',
  ])
    assert.equal(await statusFor(host), 401, host)
})

test('metrics can be open to everybody, and closed on loopback', async t => {
  const admin = 'admin: 0.0.0.0:0\nmanagement: { metrics: open }'
  const open = await startGateway(t, `${listen}${admin}${closed}`)
  assert.equal((await statuses(open.admin.replace('0.0.0.0', '127.0.0.1'))).metrics, 200)
  const shut = await startGateway(t, `management: { metrics: token }${closed}`)
  assert.deepEqual(await statuses(shut.admin), { metrics: 401, healthz: 200, readyz: 200 })
})

test('the side port listens where GATEHOUSE_ADMIN says, unless the configuration does', async t => {
  const env = { GATEHOUSE_ADMIN: '127.0.0.2:0' }
  const [given, own] = [
    await startGateway(t, `${listen}${closed}`, { env }),
    await startGateway(t, closed, { env }),
  ]
  assert.deepEqual(
    [given, own].map(({ admin }) => new URL(admin).hostname),
    ['127.0.0.2', '127.0.0.1'],
  )
  const wrong = await gatehouse(['check', '--config', given.file], { GATEHOUSE_ADMIN: 'nowhere' })
  assert.equal(wrong.code, 2)
  assert.equal(
    wrong.stderr,
    `${given.file}: admin: admin must be HOST:PORT, such as 0.0.0.0:8080 or [::]:8080; got the value of \${GATEHOUSE_ADMIN}\n`,
  )
})
