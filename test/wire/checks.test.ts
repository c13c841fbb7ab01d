// Origins that are checked while requests go on: who fails the checks gets none, and comes back.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { createLogger } from '../../src/log/log.ts'
import type { CheckConfig } from '../../src/config/model/pool-config.ts'
import { checkedOrigins, HealthChecker } from '../../src/edge/origin/health/health-checker.ts'
import { Edge, edgeConfig, listenAt, recordOf } from '../help/edge.ts'
import { type Origin, ok, startResponder } from '../help/origin.ts'
import { request } from '../help/raw.ts'
import { until } from '../help/until.ts'

const ask = request('GET /', 'Accept: application/json')

const check: CheckConfig = {
  path: '/health',
  host: null,
  interval: 25,
  timeout: 20_000,
  healthy: 2,
  unhealthy: 2,
  least: 200,
  most: 299,
}

interface Member {
  readonly origin: Origin
  isWell: boolean
}

/** Starts an origin that answers requests in any case, and checks as well as it feels. */
async function startMember(t: TestContext, name: string): Promise<Member> {
  const member: Member = {
    isWell: true,
    origin: await startResponder(t, ({ target }) =>
      target === '/health' && !member.isWell
        ? 'HTTP/1.1 503 Unwell\r\nContent-Length: 0\r\n\r\n'
        : ok(name, 'Connection: close'),
    ),
  }
  return member
}

/** Starts an edge before the members, and the checker that tells it of them. */
async function startChecked(
  t: TestContext,
  members: readonly Member[],
  checked = check,
): Promise<{ readonly edge: Edge; readonly checker: HealthChecker }> {
  const config = edgeConfig(
    members.map(({ origin }) => origin.url),
    { pool: { check: checked } },
  )
  const edge = await listenAt(t, new Edge(t, config))
  const checker = new HealthChecker({
    clock: systemClock,
    log: createLogger('error', { write: () => {} }),
    metrics: edge.metrics,
    onResults: results => edge.plane.takeChecks(results),
  })
  t.after(() => checker.stop())
  checker.watch(checkedOrigins(config))
  return { edge, checker }
}

async function answersOf(edge: Edge): Promise<string[]> {
  const answers: string[] = []
  for (let i = 0; i < 6; i++) answers.push((await edge.ask(ask)).text)
  return [...new Set(answers)].toSorted()
}

test('a member that fails its checks gets no requests until it passes them again', async t => {
  const [a, b] = [await startMember(t, 'a'), await startMember(t, 'b')]
  const { edge, checker } = await startChecked(t, [a, b])
  const areUp = () => checker.results.map(({ isUp }) => isUp)
  await until(() => areUp().length === 2)
  assert.deepEqual(await answersOf(edge), ['a', 'b'])
  a.isWell = false
  await until(() => areUp().includes(false))
  assert.deepEqual(await answersOf(edge), ['b'])
  a.isWell = true
  await until(() => !areUp().includes(false))
  assert.deepEqual(await answersOf(edge), ['a', 'b'])
})

test('when every member is down the answer is 1033, and says when the next check is', async t => {
  const members = [await startMember(t, 'a'), await startMember(t, 'b')]
  for (const member of members) member.isWell = false
  const { edge, checker } = await startChecked(t, members, { ...check, interval: 40_000, unhealthy: 1 })
  await until(() => checker.results.length === 2)
  const next = Math.min(...checker.results.map(({ nextCheckAt }) => nextCheckAt))
  const before = (next - Date.now()) / 1000
  const record = recordOf(await edge.ask(ask))
  const after = (next - Date.now()) / 1000
  assert.deepEqual([record.error_code, record.error_name], [1033, 'tunnel_error'])
  const told = Number(record.retry_after)
  assert.ok(told >= after - 1.1 && told <= before + 1.1, `${told} s for ${after} to ${before} s`)
})

test('a member that is alone is taken out by its checks too', async t => {
  const member = await startMember(t, 'alone')
  const { edge, checker } = await startChecked(t, [member])
  await until(() => checker.results.length === 1)
  assert.equal((await edge.ask(ask)).text, 'alone')
  member.isWell = false
  await until(() => checker.results.some(({ isUp }) => !isUp))
  assert.equal(recordOf(await edge.ask(ask)).error_code, 1033)
})

test('a reload that changes settings sends nothing to who is down', async t => {
  const [a, b] = [await startMember(t, 'a'), await startMember(t, 'b')]
  a.isWell = false
  const { edge, checker } = await startChecked(t, [a, b])
  await until(() => checker.results.some(({ isUp }) => !isUp))
  const urls = [a, b].map(({ origin }) => origin.url)
  const pool = { check: { ...check, interval: 60_000 } }
  for (const settings of [{ pool, transport: { connections: 9 } }, { pool }]) {
    const config = edgeConfig(urls, settings)
    checker.watch(checkedOrigins(config))
    edge.reload(config)
    edge.plane.takeChecks(checker.results)
    assert.deepEqual(await answersOf(edge), ['b'])
  }
})

test('health results of an origin are dropped once no configuration has it', async t => {
  const [a, b] = [await startMember(t, 'a'), await startMember(t, 'b')]
  a.isWell = false
  const { edge, checker } = await startChecked(t, [a, b])
  await until(() => checker.results.some(({ isUp }) => !isUp))
  checker.stop()
  const settings = { pool: { check } }
  edge.reload(edgeConfig([b.origin.url], settings))
  edge.reload(edgeConfig([a.origin.url, b.origin.url], settings))
  assert.deepEqual(await answersOf(edge), ['a', 'b'])
})

test('checks are no requests: they stand in no access log and no count', async t => {
  const member = await startMember(t, 'a')
  const { edge } = await startChecked(t, [member])
  await until(() => edge.metrics.originChecks.good.value > 3)
  assert.deepEqual(edge.accesses, [])
  assert.equal(edge.metrics.zone('site').classes['2xx'].count, 0)
})
