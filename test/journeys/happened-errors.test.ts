// Which errors happened, as the API tells of all processes and machines, and what a crash takes from that.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { main, type RunningGateway, spawnGateway, startGateway } from '../help/gateway.ts'
import { startRedis } from '../help/redis.ts'
import { siteConfig, startSite } from '../help/site.ts'
import { thorough } from '../help/thorough.ts'
import { until } from '../help/until.ts'

const denies = 'rules: [{deny: {path: /no}}]'

async function start(t: TestContext, more: string) {
  const origin = await startSite(t, (_, response) => response.end('hello'))
  const config = siteConfig(origin, more).replace('routes:', `access: {${denies}}, routes:`)
  return startGateway(t, config)
}

/** Is refused on connections of its own, which the kernel spreads over the workers. */
async function beRefused({ edge }: RunningGateway, times: number): Promise<readonly string[]> {
  const rays: string[] = []
  for (let i = 0; i < times; i++) {
    const response = await fetch(`${edge}/no?x=${i}`, { headers: { connection: 'close' } })
    assert.equal(response.status, 403)
    rays.push(response.headers.get('svc-ray')!)
    await response.arrayBuffer()
  }
  return rays
}

interface Shown {
  readonly code: number
  readonly count: number
  readonly occurrences: readonly { readonly ray: string; readonly path: string }[]
}

async function errorsOf({ admin }: RunningGateway, token: string): Promise<readonly Shown[]> {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`${admin}/client/v4/zones/site/errors`, { headers })
  const { result } = (await response.json()) as { result: readonly Shown[] }
  return result
}

/** Waits until so many refusals are told of, and checks the rays of the last ones. */
async function soonTold(gateway: RunningGateway, token: string, rays: readonly string[]): Promise<void> {
  await until(async () => (await errorsOf(gateway, token))[0]?.count === rays.length)
  const [{ code, occurrences }] = (await errorsOf(gateway, token)) as [Shown]
  assert.equal(code, 1020)
  const known = new Set(rays)
  assert.ok(occurrences.every(({ ray, path }) => known.has(ray) && path === '/no'))
  assert.equal(new Set(occurrences.map(({ ray }) => ray)).size, Math.min(20, rays.length))
}

for (const workers of thorough([0, 2], [2]))
  test(`refusals are told of within seconds with ${workers} workers, and outlive a restart`, async t => {
    const gateway = await start(t, `workers: ${workers}`)
    const { token } = await gateway.firstStart
    const rays = await beRefused(gateway, 12)
    await soonTold(gateway, token, rays)
    // What was counted in the last second is written at the end.
    const more = [...rays, ...(await beRefused(gateway, 12))]
    gateway.signal('SIGTERM')
    await gateway.exited
    const data = { GATEHOUSE_DATA: `${gateway.file.slice(0, gateway.file.lastIndexOf('/'))}/data` }
    const args = [main, 'start', '--config', gateway.file]
    // What is kept is the store's: one process is enough to read it.
    gateway.rewrite(readFileSync(gateway.file, 'utf8').replace('workers: 2', 'workers: 0'))
    const again = await spawnGateway(t, args, { env: { ...process.env, ...data } }, gateway.file)
    await soonTold(again, token, more)
    again.signal('SIGKILL')
    await again.exited
    const third = await spawnGateway(t, args, { env: { ...process.env, ...data } }, gateway.file)
    assert.equal((await errorsOf(third, token))[0]!.count, more.length)
  })

test('refusals on one machine are told of on another that shares the store', async t => {
  const redis = await startRedis(t, { aof: 'always' })
  const key = randomBytes(32).toString('base64')
  const store = `store: { url: '${redis.url}', command_timeout: 5s }\nsecrets: { key: '${key}' }`
  const one = await start(t, store)
  const { token } = await one.firstStart
  const other = await start(t, store)
  const rays = [...(await beRefused(one, 3)), ...(await beRefused(other, 4))]
  for (const gateway of [one, other]) await soonTold(gateway, token, rays)
})

for (const workers of thorough([0, 2], [2]))
  test(`hits of rules, and clients near a limit, are told of with ${workers} workers`, async t => {
    const origin = await startSite(t, (_, response) => response.end('hello'))
    const limits = 'rate_limits: [{name: few, rate: 5/h, key: address}]'
    const config = siteConfig(origin, `workers: ${workers}`)
    const gateway = await startGateway(
      t,
      config.replace('routes:', `access: {${denies}}, ${limits}, routes:`),
    )
    const { token } = await gateway.firstStart
    const read = async (path: string) => {
      const headers = { authorization: `Bearer ${token}` }
      const response = await fetch(`${gateway.admin}/client/v4/zones/site/${path}`, { headers })
      return ((await response.json()) as { result: Record<string, unknown>[] }).result
    }
    await beRefused(gateway, 3)
    const statuses: number[] = []
    for (let i = 0; i < 8; i++) {
      const response = await fetch(gateway.edge, { headers: { connection: 'close' } })
      await response.arrayBuffer()
      statuses.push(response.status)
    }
    assert.deepEqual(
      statuses.map(status => status === 429),
      [false, false, false, false, false, true, true, true],
    )
    await until(async () => {
      const [{ hits } = {}] = await read('access_rules/hits')
      const [{ over_last_hour } = {}] = await read('rate_limits')
      return hits === 3 && over_last_hour === 3
    })
    const [{ nearest }] = (await read('rate_limits')) as [{ nearest: Record<string, unknown>[] }]
    const [{ key, used, remaining }] = nearest as [Record<string, unknown>]
    assert.deepEqual([key, used, remaining], [[{ by: 'address', value: '127.0.0.1' }], 5, 0])
  })
