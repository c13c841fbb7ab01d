// What operators set for a zone by the management API, in force on every process that serves it.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { main, type RunningGateway, spawnGateway, startGateway } from '../help/gateway.ts'
import { ok, startResponder } from '../help/origin.ts'
import { startRedis } from '../help/redis.ts'
import { siteConfig, startSite } from '../help/site.ts'
import { until } from '../help/until.ts'

type Manage = (method: string, path: string, body?: unknown, type?: string) => Promise<unknown>

/** Asks the API of a zone, with the token of a first start. */
function manageBy({ admin }: RunningGateway, token: string): Manage {
  return async (method, path, body, type = 'application/json') => {
    const response = await fetch(`${admin}/client/v4/zones/site/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const { success, result, errors } = (await response.json()) as Record<string, unknown>
    assert.ok(success, JSON.stringify(errors))
    return result
  }
}

/** Asks on connections of their own, which the kernel spreads over the workers. */
async function asks({ edge }: RunningGateway, times = 12): Promise<readonly string[]> {
  const answers: string[] = []
  for (let i = 0; i < times; i++) {
    const headers = { connection: 'close', accept: 'application/json' }
    const response = await fetch(edge, { headers })
    const text = await response.text()
    answers.push(text.startsWith('{') ? String(JSON.parse(text).error_code) : text)
  }
  return answers
}

/** Waits until all processes answer so: a second, where the machine has nothing else to do. */
async function soon(gateway: RunningGateway, answer: string): Promise<void> {
  await until(async () => (await asks(gateway)).every(text => text === answer))
}

async function startSites(t: TestContext, more: string, env: NodeJS.ProcessEnv = {}) {
  const origin = await startSite(t, (_, response) => response.end('hello'))
  return startGateway(t, siteConfig(origin, more), { env })
}

const denied = { action: 'deny', ip: ['127.0.0.1'] }

test('a rule and a page take effect on all workers soon, and so does their removal', async t => {
  const gateway = await startSites(t, 'workers: 2')
  const manage = manageBy(gateway, (await gateway.firstStart).token)
  const { id } = (await manage('POST', 'access_rules', denied)) as { id: string }
  await soon(gateway, '1006')
  await manage('PUT', 'error_pages/ip_block', '<p>gone</p>', 'text/html')
  await soon(gateway, '<p>gone</p>')
  const rule = { expression: 'error.code == 1006', content: 'not you', content_type: 'text/plain' }
  const { id: errorRule } = (await manage('POST', 'error_rules', rule)) as { id: string }
  await soon(gateway, 'not you')
  await manage('DELETE', `error_rules/${errorRule}`)
  await manage('DELETE', 'error_pages/ip_block')
  await manage('DELETE', `access_rules/${id}`)
  await soon(gateway, 'hello')
})

test('settings made on one machine apply on another that shares the store', async t => {
  const redis = await startRedis(t, { aof: 'always' })
  const env = { STORE: `redis://127.0.0.1:${redis.port}` }
  const key = randomBytes(32).toString('base64')
  const more = `store: '${env.STORE}'\nsecrets: { key: '${key}' }`
  const [one, other] = [await startSites(t, more), await startSites(t, more)]
  await manageBy(one, (await one.firstStart).token)('POST', 'access_rules', denied)
  await soon(other, '1006')
})

test('rules outlive the store: running processes keep them, and a new one takes them from the copy', async t => {
  const redis = await startRedis(t, { aof: 'always' })
  const gateway = await startSites(t, `store: { url: '${redis.url}', command_timeout: 5s }`)
  await manageBy(gateway, (await gateway.firstStart).token)('POST', 'access_rules', denied)
  await soon(gateway, '1006')
  await redis.kill()
  await soon(gateway, '1006')
  gateway.signal('SIGTERM')
  await gateway.exited
  const data = { GATEHOUSE_DATA: `${gateway.file.slice(0, gateway.file.lastIndexOf('/'))}/data` }
  const args = [main, 'start', '--config', gateway.file]
  const again = await spawnGateway(t, args, { env: { ...process.env, ...data } }, gateway.file)
  assert.deepEqual(await asks(again, 1), ['1006'])
  const elsewhere = { GATEHOUSE_DATA: `${data.GATEHOUSE_DATA}-elsewhere` }
  const fresh = await spawnGateway(t, args, { env: { ...process.env, ...elsewhere } }, gateway.file)
  assert.deepEqual(await asks(fresh, 1), ['1023'])
  await redis.restart()
  await until(async () => (await asks(fresh, 1))[0] === '1006')
})

test('one process checks the origins, and all workers use its results', async t => {
  let isWell = true
  const sick = await startResponder(t, ({ target }) =>
    target === '/health' && !isWell ? ok().replace('200 OK', '500 Sick') : ok('sick'),
  )
  const well = await startResponder(t, ok('well'))
  const gateway = await startGateway(
    t,
    `workers: 2
pools: {site: {origins: ['${sick.url}', '${well.url}'], check: {path: /health, interval: 2s, timeout: 2s, unhealthy: 2}}}
zones: [{name: site, hosts: [127.0.0.1], routes: [{path: /, pool: site}]}]
`,
  )
  const manage = manageBy(gateway, (await gateway.firstStart).token)
  const states = async () => {
    const [{ origins }] = (await manage('GET', 'origins')) as [{ origins: { state: string }[] }]
    return origins.map(({ state }) => state).join()
  }
  await until(async () => new Set(await asks(gateway)).size === 2)
  isWell = false
  await until(async () => (await states()) === 'down,healthy')
  assert.deepEqual(new Set(await asks(gateway)), new Set(['well']))
  const before = sick.requests.length
  await until(() => sick.requests.length >= before + 4)
  assert.ok(sick.requests.slice(before).every(({ target }) => target === '/health'))
  isWell = true
  await until(async () => (await states()) === 'healthy,healthy')
  await until(async () => new Set(await asks(gateway)).size === 2)
})
