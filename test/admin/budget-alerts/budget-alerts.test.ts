import assert, { deepEqual } from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { AlertWatch } from '../../../src/admin/budget-alerts/alert-watch.ts'
import { WebhookSender } from '../../../src/admin/budget-alerts/webhook.ts'
import { policiesInEffect } from '../../../src/admin/facts/policies-in-effect.ts'
import { bucketsOf, callerOf } from '../../../src/budgets/buckets.ts'
import { compilePolicies } from '../../../src/budgets/policies/compile.ts'
import { decidePolicies, policyBuckets } from '../../../src/budgets/policies/decide.ts'
import type { Bucket } from '../../../src/budgets/rule-buckets.ts'
import { createLogger } from '../../../src/log/log.ts'
import { Metrics } from '../../../src/metrics/metrics.ts'
import type { SpendRule } from '../../../src/store/records/budget-rule.ts'
import type { Token } from '../../../src/store/records/records.ts'
import { Authority } from '../../help/certificates.ts'
import { until } from '../../help/until.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'

const gateway = '/ai-gateway/gateways/team'
const alerts = `${gateway}/budget_alerts`
const authority = new Authority()
const identity = authority.issue(['localhost'])

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Starts an https server that responds with what `respond` says. */
async function startHook(
  t: TestContext,
  respond: () => { status: number; location?: string; body?: string },
) {
  const received: Received[] = []
  const server = createServer({ cert: identity.certificate, key: identity.key }, (request, response) => {
    let body = ''
    request.on('data', piece => (body += piece))
    request.on('end', () => {
      received.push({ headers: request.headers, body })
      const { status, location, body: text = 'secret words of the receiver' } = respond()
      response.writeHead(status, location === undefined ? {} : { location }).end(text)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  t.after(() => server.closeAllConnections())
  return { received, url: `https://localhost:${(server.address() as AddressInfo).port}/hook` }
}

/** Starts an https server that never responds. */
async function startHanging(t: TestContext) {
  const { promise: arrived, resolve } = Promise.withResolvers<void>()
  const server = createServer({ cert: identity.certificate, key: identity.key }, () => resolve())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  t.after(() => server.closeAllConnections())
  return { arrived, url: `https://localhost:${(server.address() as AddressInfo).port}/hook` }
}

async function start(t: TestContext, respond: Parameters<typeof startHook>[1] = () => ({ status: 204 })) {
  const api = await startApi(t)
  const hook = await startHook(t, respond)
  api.webhooks.sender = new WebhookSender({ isAllowed: () => true, ca: authority.certificate })
  const rules = [{ id: 'money', limit: 10, limitType: 'cost', window: 'day' }]
  await api.ask('POST', '/ai-gateway/gateways', { body: { id: 'team', spend_limits: { rules } } })
  const create = async (thresholds: readonly number[], url = hook.url) =>
    (await api.ask('POST', alerts, { body: { url, thresholds } })).json.result
  const list = async () => (await api.ask('GET', alerts)).json.result
  const lines: string[] = []
  const { budgetAlerts } = new Metrics('0')
  const watch = () =>
    new AlertWatch({
      ...{ store: api.kept, secrets: api.keys.current, sender: api.webhooks.sender },
      ...{ log: createLogger('info', { write: line => lines.push(line) }), metrics: budgetAlerts },
      clock: api.clock,
    })
  let sequence = 0
  const spendIn = async (buckets: readonly Bucket[], dollars: number) => {
    const lines = buckets.map(({ bucket, window, rule: { limit } }) => ({
      ...{ bucket, window, limit, share: 'share', total: dollars * 1e9, confirmed: 0 },
      ...{ keep: 0, ifLost: 0, need: 0, want: 0 },
    }))
    await api.kept.budgets.step({ account, sequence: ++sequence, lease: 15_000, lines })
  }
  const facts = { provider: 'openai', model: 'gpt-4o', metadata: null }
  const spend = async (dollars: number, token: Token | null = null) => {
    const { record } = (await api.kept.gateways.get(account, 'team'))!
    await spendIn(bucketsOf(record, token, facts, api.clock.now()), dollars)
  }
  const bodies = () => hook.received.map(({ body }) => JSON.parse(body).data)
  return { ...api, ...hook, create, list, watch, spend, spendIn, bodies, lines, budgetAlerts }
}

/** Verifies as a receiver does, by the words of Standard Webhooks. */
function isSignedBy(secret: string, { headers, body }: Received): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  const expected = createHmac('sha256', key).update(content).digest('base64')
  return String(headers['webhook-signature']).split(' ').includes(`v1,${expected}`)
}

test('a threshold is told once, signed, whatever number of processes look', async t => {
  const { create, spend, watch, received, clock, budgetAlerts } = await start(t)
  const { secret } = await create([50, 80])
  const watches = [watch(), watch(), watch()]
  const look = () => Promise.all(watches.map(watch => watch.look()))
  await spend(4.9)
  await look()
  assert.equal(received.length, 0)
  await spend(5.5)
  await look()
  await look()
  assert.equal(received.length, 1)
  const [first] = received
  assert.ok(isSignedBy(secret, first!))
  assert.equal(Number(first!.headers['webhook-timestamp']), Math.floor(clock.now() / 1000))
  const { type, data } = JSON.parse(first!.body)
  assert.equal(type, 'budget.threshold_reached')
  assert.deepEqual(data, {
    ...{ account_id: account, gateway_id: 'team', threshold: 50, owner: 'gateway', owner_id: 'team' },
    ...{ rule_id: 'money', rule: '$10.00 a day', unit: 'cost' },
    ...{ id: data.id, key: [], spent: 5.5, leased: 0, limit: 10, remaining: 4.5 },
    resets_at: '2026-01-02T00:00:00.000Z',
  })
  await spend(9)
  await look()
  assert.deepEqual(
    received.map(({ body }) => JSON.parse(body).data.threshold),
    [50, 80],
  )
  clock.advance(86_400_000)
  await look()
  await spend(6)
  await look()
  assert.deepEqual(
    received.map(({ body }) => JSON.parse(body).data.threshold),
    [50, 80, 50],
  )
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 3)
  assert.deepEqual([budgetAlerts.delivered.value, budgetAlerts.failed.value], [3, 0])
})

const limitOf = (id: string, limit: number): SpendRule => ({
  ...{ id, isEnabled: true, unit: 'cost', limit, window: 'day', technique: 'fixed' },
  whenUnreachable: 'closed',
})

test('budgets of tokens are told by the first of their gateways that has the same receiver', async t => {
  const { ask, create, spend, watch, url, bodies, keepToken } = await start(t)
  for (const id of ['alpha', 'open', 'zeta'])
    await ask('POST', '/ai-gateway/gateways', { body: { id, authentication: id !== 'open' } })
  const addAlert = (id: string, body: object) =>
    ask('POST', `/ai-gateway/gateways/${id}/budget_alerts`, { body })
  await create([50])
  await addAlert('open', { url, thresholds: [50] })
  await addAlert('zeta', { url: `${url}/other`, thresholds: [50] })
  const spendLimits = { isEnabled: true, rules: [limitOf('pocket', 20)] }
  const { token } = await keepToken(['AI Gateway Run'], { spendLimits })
  const confined = await keepToken(['AI Gateway Run'], {
    spendLimits: { isEnabled: true, rules: [limitOf('small', 2)] },
    gateways: ['zeta'],
  })
  await spend(1)
  await spend(11, token)
  await spend(1.5, confined.token)
  const watches = [watch(), watch()]
  await Promise.all(watches.map(watch => watch.look()))
  await Promise.all(watches.map(watch => watch.look()))
  const told = bodies().filter(({ owner }) => owner === 'token')
  deepEqual(
    told.map(({ gateway_id, owner_id, rule_id, spent }) => [gateway_id, owner_id, rule_id, spent]).sort(),
    [
      ['team', token.id, 'pocket', 11],
      ['zeta', confined.token.id, 'small', 1.5],
      ['zeta', token.id, 'pocket', 11],
    ].sort(),
  )
  const [first] = told.filter(({ gateway_id }) => gateway_id === 'team')
  deepEqual(first, {
    ...{ account_id: account, gateway_id: 'team', threshold: 50, owner: 'token', owner_id: token.id },
    ...{
      owner_name: token.name,
      rule_id: 'pocket',
      rule: '$20.00 a day',
      unit: 'cost',
      id: first.id,
      key: [],
      spent: 11,
    },
    ...{ leased: 0, limit: 20, remaining: 9, resets_at: '2026-01-02T00:00:00.000Z' },
  })
  await addAlert('alpha', { url, thresholds: [50, 60, 70] })
  await spend(13, token)
  await watch().look()
  const more = bodies().filter(({ owner }) => owner === 'token')
  deepEqual(
    more.slice(told.length).map(({ gateway_id, threshold }) => [gateway_id, threshold]),
    [['alpha', 60]],
  )
})

test('tokens are read when alerts are first looked for, and not each time', async t => {
  const { create, spend, watch, bodies, kept, keepToken } = await start(t)
  const spendLimits = { isEnabled: true, rules: [limitOf('pocket', 20)] }
  const { token } = await keepToken(['AI Gateway Run'], { spendLimits })
  const walk = t.mock.method(kept.tokens, 'walk')
  const read = t.mock.method(kept.budgets, 'read')
  const watching = watch()
  await watching.look()
  assert.equal(walk.mock.callCount(), 0)
  await create([50])
  for (let look = 0; look < 10; look++) await watching.look()
  assert.equal(walk.mock.callCount(), 1)
  assert.equal(read.mock.callCount(), 2 * 10)
  await spend(11, token)
  await watching.look()
  deepEqual(
    bodies().map(({ owner }) => owner),
    ['gateway', 'token'],
  )
  await watching.close()
})

test('limits of policies are told, of several for the same calls the highest', async t => {
  const { ask, create, spendIn, watch, bodies, clock, kept, keepToken } = await start(t)
  await create([50])
  const path = `${gateway}/policies`
  const limits = [
    { name: 'Low', actor: '*', amount: 5 },
    { name: 'High', actor: '*', amount: 10 },
    { name: 'Each', actor: 'token:{svc.token.id}', amount: 3 },
  ]
  for (const { name, actor, amount } of limits) {
    const action = { type: 'limit', amount, period: 'daily' }
    await ask('POST', path, { body: { name, actor, resource: '*', action } })
  }
  await ask('POST', `${path}/commit`)
  const { token } = await keepToken(['AI Gateway Run'], {})
  const policies = await policiesInEffect((await kept.gateways.get(account, 'team'))!.record, kept)
  const compiled = compilePolicies(policies, { account, gateway: 'team' })
  const call = { provider: 'openai', model: 'gpt-4o', metadata: null }
  const decision = decidePolicies(compiled, call, callerOf(token))
  assert.equal(decision.type, 'allow')
  const buckets = policyBuckets('limits' in decision ? decision.limits : [], clock.now())
  await spendIn(buckets, 2.6)
  await watch().look()
  deepEqual(
    bodies().map(({ owner, owner_name, key, spent }) => ({ owner, owner_name, key, spent })),
    [
      {
        ...{ owner: 'policy', owner_name: 'Each', spent: 2.6 },
        key: [{ by: 'token:{svc.token.id}', value: token.id, name: token.name }],
      },
    ],
  )
  await spendIn(buckets, 5.1)
  await watch().look()
  deepEqual(
    bodies()
      .slice(1)
      .map(({ owner_name, limit, key }) => [owner_name, limit, key]),
    [['High', 10, []]],
  )
})

test('a receiver that hangs holds up no other one', async t => {
  const { ask, create, spend, watch, bodies, url, webhooks, keepToken, budgetAlerts } = await start(t)
  const { url: hanging, arrived } = await startHanging(t)
  webhooks.sender = new WebhookSender({
    ...{ isAllowed: () => true, ca: authority.certificate, timeout: 3_000 },
  })
  await create([50], hanging)
  const rules = Array.from({ length: 5 }, (_, i) => limitOf(`rule-${i}`, 10))
  for (let i = 0; i < 20; i++) {
    const { token } = await keepToken(['AI Gateway Run'], { spendLimits: { isEnabled: true, rules } })
    await spend(6, token)
  }
  await create([50], url)
  await ask('POST', '/ai-gateway/gateways', { body: { id: 'team-2' } })
  await ask('POST', '/ai-gateway/gateways/team-2/budget_alerts', { body: { url, thresholds: [60] } })
  const looking = watch().look()
  await arrived
  await until(() => bodies().some(({ gateway_id }) => gateway_id === 'team-2'))
  const isDone = await Promise.race([looking.then(() => true), Promise.resolve(false)])
  assert.equal(isDone, false)
  assert.ok(bodies().some(({ gateway_id }) => gateway_id === 'team'))
  await looking
  assert.ok(budgetAlerts.failed.value > 0)
})

test('a delivery that fails is repeated with the same id, later and later, by any process, and given up', async t => {
  let status = 503
  const { ask, create, spend, watch, received, clock, list, lines } = await start(t, () => ({ status }))
  const { secret } = await create([50])
  await spend(6)
  await watch().look()
  await watch().look()
  assert.equal(received.length, 1)
  const [{ deliveries }] = await list()
  assert.deepEqual(
    [deliveries[0].attempts, deliveries[0].failure, deliveries[0].next_attempt_at],
    [1, 'status 503', new Date(clock.now() + 30_000).toISOString()],
  )
  const found = (await ask('GET', '/attention')).json.result.items as { kind: string; message: string }[]
  assert.deepEqual(
    found.filter(({ kind }) => kind === 'budget_alert_failing').map(({ message }) => message),
    ['A budget alert of the gateway team is not delivered: status 503. It is tried again.'],
  )
  clock.advance(31_000)
  await watch().look()
  clock.advance(31_000)
  await watch().look()
  assert.equal(received.length, 2)
  status = 200
  clock.advance(100_000)
  await watch().look()
  await watch().look()
  assert.equal(received.length, 3)
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1)
  assert.equal(new Set(received.map(({ body }) => body)).size, 1)
  const [{ deliveries: told }] = await list()
  assert.deepEqual([told[0].attempts, told[0].failure, told[0].next_attempt_at], [3, null, null])
  assert.doesNotMatch(lines.join(''), /secret words|whsec/)
  assert.ok(!lines.join('').includes(secret))
})

test('it is given up after some hours', async t => {
  const { create, spend, watch, received, clock, list } = await start(t, () => ({ status: 500 }))
  await create([50])
  await spend(6)
  for (let hour = 0; hour < 23; hour++) {
    await watch().look()
    clock.advance(3_600_000)
  }
  assert.equal(received.length, 9)
  const [{ deliveries }] = await list()
  assert.deepEqual([deliveries[0].attempts, deliveries[0].next_attempt_at], [9, null])
})

test('secrets are sealed, shown once and rotated; the one before signs for a day', async t => {
  const { create, list, ask, kept, received, clock } = await start(t)
  const { id, secret } = await create([80, 50])
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  const [shown] = await list()
  assert.deepEqual([shown.thresholds, shown.rotated_secret_until, 'secret' in shown], [[50, 80], null, false])
  const { record } = (await kept.budgetAlertSets.get(`${account}/team`, 'alerts'))!
  assert.ok(!JSON.stringify(record).includes(secret.slice(6)))
  const rotated = await ask('POST', `${alerts}/${id}/rotate_secret`)
  const { secret: next } = rotated.json.result
  assert.notEqual(next, secret)
  const sendTest = async () => (await ask('POST', `${alerts}/${id}/test`)).json.result
  assert.deepEqual(await sendTest(), { delivered: true, failure: null })
  assert.deepEqual(
    [secret, next].map(one => isSignedBy(one, received[0]!)),
    [true, true],
  )
  assert.equal(JSON.parse(received[0]!.body).type, 'budget.test')
  clock.advance(86_400_001)
  await sendTest()
  assert.deepEqual(
    [secret, next].map(one => isSignedBy(one, received[1]!)),
    [false, true],
  )
  const changed = await ask('PUT', `${alerts}/${id}`, { body: { url: shown.url, thresholds: [99] } })
  assert.deepEqual(changed.json.result.thresholds, [99])
  assert.equal((await ask('DELETE', `${alerts}/${id}`)).status, 200)
  assert.deepEqual(await list(), [])
  for (const [method, path] of [
    ['DELETE', id],
    ['POST', `${id}/test`],
    ['POST', `${id}/rotate_secret`],
  ] as const)
    assert.equal((await ask(method, `${alerts}/${path}`)).status, 404, path)
  const { items } = await kept.audit.list(account, {
    ...{ since: null, before: null, actor: null, descending: true, limit: 10, offset: 0 },
  } as never)
  assert.ok(!JSON.stringify(items).includes(next))
  const changes = items.flatMap(({ changed }) => changed)
  assert.deepEqual(changes.toReversed().slice(-4), [
    ...['budget_alerts', 'budget_alerts.secret', 'budget_alerts', 'budget_alerts'],
  ])
})

test('a gateway has five alerts', async t => {
  const { create, ask, url } = await start(t)
  for (let i = 0; i < 5; i++) await create([50])
  const { status, json } = await ask('POST', alerts, { body: { url, thresholds: [50] } })
  assert.equal(status, 409)
  assert.match(json.errors[0].message, /already has 5 budget alerts/)
})
