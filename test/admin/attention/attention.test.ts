import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bucketsOf } from '../../../src/budgets/buckets.ts'
import type { OriginState } from '../../../src/admin/facts/zone-facts.ts'
import type { SpendRule } from '../../../src/store/records/budget-rule.ts'
import { batchOf } from '../../../src/store/log-batch/batch.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import { slotOf } from '../../../src/store/records/tally.ts'
import { startRedis } from '../../help/redis.ts'
import {
  clientSecret,
  member,
  oauthClient,
  totp,
  user,
  verification,
} from '../../store/contract-specimens.ts'
import { account, tokenWith } from '../../tokens/token-with.ts'
import { entryWith } from '../ai-logs/log-entries.ts'
import { gatewayOf, startApi } from '../api.ts'
import { described, faultsOf } from '../openapi/openapi-document.ts'
import type { HostCertificateInfo } from '../../../src/certificates/host-certificates.ts'
import { viewOf } from '../providers/providers.ts'
import { zoneWith } from '../zones/zones.ts'

const hour = 3_600_000
const day = 24 * hour

/** Has all tokens that there are used at a time. */
async function useAll({ tokens }: Store, at: number): Promise<void> {
  const { items } = await tokens.list(account, { offset: 0, limit: 100 })
  await tokens.noteUses(items.map(({ account, id }) => ({ account, id, at })))
}

/** Starts with nothing that needs attention but what is kept in memory. */
async function start(t: Parameters<typeof startApi>[0]) {
  const api = await startApi(t)
  api.given.pools = []
  const { key } = api.keys.current.digest('any')
  const now = api.clock.now()
  await useAll(api.kept, now)
  const add = (name: string, members: Parameters<typeof oauthClient>[0]) =>
    api.kept.oauthClients.insert(oauthClient({ account, name, secrets: [], verification: null, ...members }))
  const secret = (age: number, lastUsed: number | null = null) =>
    clientSecret({
      key,
      createdAt: now - age,
      lastUsedAt: lastUsed === null ? null : now - lastUsed,
      tail: 'abcd',
    })
  const found = async () => {
    const { json } = await api.ask('GET', '/attention')
    const { responses } = described.find(({ id }) => id === 'listAttention')!
    assert.equal(faultsOf(responses['200']!.content['application/json']!.schema, json), '')
    return json.result.items
      .filter(({ kind }: { kind: string }) => kind !== 'store_unsafe')
      .map(({ kind, message }: { kind: string; message: string }) => `${kind}: ${message}`)
  }
  return { ...api, add, secret, found, now }
}

test('secrets that are unused, left over or unreadable need attention', async t => {
  const { add, secret, found } = await start(t)
  assert.deepEqual(await found(), [])
  await add('Used', { secrets: [secret(200 * day, 89 * day)] })
  await add('Young', { secrets: [secret(day), secret(200 * day, day)] })
  assert.deepEqual(await found(), [])
  await add('Shop', { secrets: [secret(200 * day, 90 * day)] })
  await add('Never', { secrets: [secret(91 * day)] })
  await add('Rotated', { secrets: [secret(8 * day, day), secret(200 * day, day)] })
  await add('Lost', { secrets: [{ ...secret(day), key: 'ffffffff' }] })
  assert.deepEqual((await found()).sort(), [
    'secret_rotation_unfinished: Rotated was given a new secret 8 days ago, and the old one still works.',
    'secret_unreadable: A secret of Lost cannot be checked: the server key that protects it is missing.',
    'secret_unused: The secret of Never that ends in abcd was not used for 91 days.',
    'secret_unused: The secret of Shop that ends in abcd was not used for 90 days.',
  ])
})

test('domain verifications that failed or end soon need attention', async t => {
  const { add, found, now } = await start(t)
  const of = (deadline: number, more = {}) => ({
    verification: verification({
      host: 'shop.example',
      deadline: now + deadline,
      nextCheckAt: now + 1_000,
      ...more,
    }),
  })
  await add('Later', of(6 * hour + 1))
  await add('Verified', of(hour, { status: 'verified', nextCheckAt: null }))
  assert.deepEqual(await found(), [])
  await add('Soon', of(3 * hour))
  await add('Failed', of(-hour, { status: 'failed', nextCheckAt: null }))
  assert.deepEqual((await found()).sort(), [
    'verification_ending: The verification of shop.example for Soon ends in 3 hours.',
    'verification_failed: The domain shop.example of Failed was not verified in time.',
  ])
})

test('tokens that expire, gateways that are open, and full logs need attention', async t => {
  const { kept, found, now, clock } = await start(t)
  const add = (name: string, members: object) =>
    kept.tokens.insert(tokenWith({ name, issuedOn: now, ...members }).token)
  await add('later', { expiresOn: now + 8 * day })
  await add('gone', { expiresOn: now - 1 })
  await add('off', { expiresOn: now + day, status: 'disabled' })
  await kept.gateways.insert({ ...gatewayOf('open'), authentication: false })
  await kept.gateways.insert({
    ...gatewayOf('full'),
    logManagement: 2,
    logManagementStrategy: 'STOP_INSERTING',
  })
  assert.deepEqual(await found(), [])
  await add('laptop', { expiresOn: now + 7 * day })
  const keep = (gateway: string, count: number) =>
    kept.logs.append(
      account,
      gateway,
      batchOf(Array.from({ length: count }, (_, n) => entryWith(n, { gateway, createdAt: now - n }))),
      { maxEntries: 1_000, strategy: 'DELETE_OLDEST' },
    )
  await keep('open', 1)
  await keep('full', 2)
  // No change of a record tells of log entries.
  clock.advance(31_000)
  assert.deepEqual((await found()).sort(), [
    'gateway_open: The gateway open requires no token, and got calls in the last 7 days.',
    'log_full: The log of the gateway full is at its limit of 2 entries, and stores no more.',
    'token_expiring: The API token laptop expires in 6 days.',
  ])
})

test('tokens that nobody uses need attention while they would work', async t => {
  const { kept, found, now } = await start(t)
  const add = async (name: string, age: number, members: object = {}, lastUsed: number | null = null) => {
    const { token } = tokenWith({ name, issuedOn: now - age, ...members })
    const { account, id } = token
    await kept.tokens.insert(token)
    if (lastUsed !== null) await kept.tokens.noteUses([{ account, id, at: now - lastUsed }])
  }
  await add('young', 90 * day - 1)
  await add('used', 200 * day, {}, 90 * day - 1)
  await add('off', 200 * day, { status: 'disabled' })
  await add('gone', 200 * day, { expiresOn: now - 1 })
  await add('waiting', 200 * day, { notBefore: now - day })
  assert.deepEqual(await found(), [])
  await add('never', 91 * day)
  await add('left', 200 * day, {}, 90 * day)
  assert.deepEqual((await found()).sort(), [
    'token_unused: The API token left was not used for 90 days.',
    'token_unused: The API token never was not used for 91 days.',
  ])
})

test('members without a second factor, and a single super administrator, need attention', async t => {
  const { kept, found } = await start(t)
  const join = async (email: string, members: object, ofUser: object = {}) => {
    const person = user({ email, ...ofUser })
    await kept.users.insert(person)
    await kept.members.insert(member({ account, user: person.id, ...members }))
  }
  await join('ann@example.com', { isSuper: true }, { totp: totp({ confirmedAt: 1 }) })
  await join('bob@example.com', {})
  await join('eve@example.com', { isSuper: true, status: 'pending' })
  assert.deepEqual(await found(), [
    'few_super_administrators: The account has only one super administrator: add another one, in case that person loses access.',
  ])
  await join('zoe@example.com', { isSuper: true }, { totp: totp() })
  assert.deepEqual(await found(), [])
  await kept.accounts.update(account, { enforceTwoFactor: true })
  assert.deepEqual((await found()).sort(), [
    'second_factor_missing: The account requires a second factor that bob@example.com does not have.',
    'second_factor_missing: The account requires a second factor that zoe@example.com does not have.',
  ])
})

test('rules whose limits differ between machines need attention, with the limits and the machines', async t => {
  const { ask, limits, clock, keepToken } = await startApi(t)
  const found = async (token?: string) =>
    (await ask('GET', '/attention', token === undefined ? {} : { token })).json.result.items.filter(
      ({ kind }: { kind: string }) => kind === 'limits_differ',
    )
  assert.deepEqual(await found(), [])
  limits.differences = [
    {
      rule: 'login',
      limits: [
        { limit: '5 in 1m', machines: ['one:8081'] },
        { limit: '9 in 1m', machines: ['two:8081', 'three:8081'] },
      ],
    },
  ]
  clock.advance(31_000)
  assert.deepEqual(await found(), [
    {
      kind: 'limits_differ',
      severity: 'warning',
      message:
        'Machines on the store have different limits for login: 5 in 1m on one:8081; 9 in 1m on two:8081, three:8081.',
      resource: null,
    },
  ])
  const { value } = await keepToken(['OAuth Clients Write'])
  assert.deepEqual(await found(value), [])
})

test('spend limits that cannot be counted need attention, whichever process says so', async t => {
  const { ask, metrics, requests, clock, keepToken } = await startApi(t)
  const found = async (token?: string) => {
    await requests.sample()
    clock.advance(31_000)
    const { json } = await ask('GET', '/attention', token === undefined ? {} : { token })
    return json.result.items
      .filter(({ kind }: { kind: string }) => kind === 'budgets_uncounted')
      .map(({ severity, message }: { severity: string; message: string }) => `${severity}: ${message}`)
  }
  assert.deepEqual(await found(), [])
  metrics.edge.budgets.uncounted.inc()
  const [message, ...others] = await found()
  assert.match(
    message,
    /^critical: The store .* spend limits of AI calls cannot be counted\. Closed limits refuse calls with 503/,
  )
  assert.deepEqual(others, [])
  const { value } = await keepToken(['OAuth Clients Write'])
  assert.deepEqual(await found(value), [])
  metrics.edge.budgets.uncounted.dec()
  assert.deepEqual(await found(), [])
})

test('an export of log entries that fails needs attention, after a minute or if it does not pass', async t => {
  const { ask, logExport, clock, keepToken } = await startApi(t)
  const found = async (token?: string) =>
    (await ask('GET', '/attention', token === undefined ? {} : { token })).json.result.items.filter(
      ({ kind }: { kind: string }) => kind === 'log_export_failing',
    )
  const waiting = { entries: 7, bytes: 50, oldest: clock.now() }
  logExport.state = { waiting, failure: null, maxDisk: 100 }
  assert.deepEqual(await found(), [])
  const failure = { since: clock.now(), message: 'connect ECONNREFUSED', isPermanent: false }
  logExport.state = { waiting, failure, maxDisk: 100 }
  clock.advance(31_000)
  assert.deepEqual(await found(), [])
  clock.advance(31_000)
  const message =
    'AI log entries have not been exported for 1 minutes: connect ECONNREFUSED. It is tried again and again; 7 entries wait in 50% of ai.log_export.max_disk, beyond which the oldest are dropped.'
  assert.deepEqual(await found(), [
    { kind: 'log_export_failing', severity: 'warning', message, resource: null },
  ])
  const refused = { since: clock.now(), message: 'status 401', isPermanent: true }
  logExport.state = { waiting, failure: refused, maxDisk: 100 }
  clock.advance(31_000)
  const [{ severity, message: words }] = await found()
  assert.equal(severity, 'critical')
  assert.match(words, /: status 401\. Nothing is sent until that is changed; 7 entries wait/)
  const { value } = await keepToken(['OAuth Clients Write'])
  assert.deepEqual(await found(value), [])
})

test('spend limits that are nearly used up, or that refuse calls, need attention where the token may see them', async t => {
  const { ask, kept, keepToken, clock, found } = await start(t)
  const rules = [
    { id: 'money', limit: 10, limitType: 'cost', window: 'day' },
    { id: 'month', limit: 100, limitType: 'cost', window: 'month' },
    { id: 'minute', limit: 10, limitType: 'tokens', window: 60 },
    { id: 'each', limit: 1, limitType: 'cost', window: 'day', token: { mode: 'partition' } },
  ]
  await ask('POST', '/ai-gateway/gateways', { body: { id: 'team', spend_limits: { rules } } })
  const limits: SpendRule = {
    ...{ id: 'day', isEnabled: true, limit: 100, window: 86_400 },
    ...{ unit: 'tokens', technique: 'sliding', whenUnreachable: 'closed' },
  }
  const { token } = await keepToken(['AI Gateway Run'], {
    name: 'trial',
    spendLimits: { isEnabled: true, rules: [limits] },
  })
  const { record: gateway } = (await kept.gateways.get(account, 'team'))!
  const call = { provider: 'openai', model: 'gpt-4o', metadata: null }
  let sequence = 0
  const spend = async (total: number) => {
    const lines = bucketsOf(gateway, token, call, clock.now()).map(({ bucket, window, rule: { limit } }) => ({
      ...{ bucket, window, limit, share: 'share', total: Math.round(limit * total), confirmed: 0 },
      ...{ keep: 0, ifLost: 0, need: 0, want: 0 },
    }))
    await kept.budgets.step({ account, sequence: ++sequence, lease: 15_000, lines })
  }
  const refuse = (name: string, count: number) => {
    const now = clock.now()
    const tally = { kind: 'budget', scope: `budgets ${account}`, name, occurrences: [] } as const
    return kept.tallies.add([{ ...tally, slot: now, count, last: now }])
  }
  const soon = async () => {
    clock.advance(31_000)
    return (await found()).filter((one: string) => one.startsWith('budget_'))
  }
  await spend(0.79)
  assert.deepEqual(await soon(), [])
  await refuse('gateway team each', 1)
  await refuse('gateway team minute', 9)
  assert.deepEqual(await soon(), [
    'budget_refusing: The spend limit of $1.00 a day (each) of the gateway team refused 1 call in the last day.',
  ])
  await spend(0.81)
  await refuse('gateway team money', 12)
  const [money, month, trial, each, ...more] = await soon()
  assert.deepEqual(more, [])
  const ofMoney =
    /^budget_spent: The spend limit of \$[\d.]+ a day \(money\) of the gateway team is 81% spent, and refused 12 calls in the last day\. It starts over in \d+ hours\.$/
  assert.match(money, ofMoney)
  assert.match(
    month,
    /^budget_spent: The spend limit of \$[\d.]+ a month \(month\) of the gateway team is 81% spent\. It starts over in \d+ days\.$/,
  )
  assert.equal(
    trial,
    'budget_spent: The spend limit of 100 tokens in any day (day) of the API token trial is 81% spent.',
  )
  assert.match(each, /^budget_refusing: /)
  const { value } = await keepToken(['AI Gateway Read'])
  const { json } = await ask('GET', '/attention', { token: value })
  assert.deepEqual(json.result.counts, { budget_spent: 2, budget_refusing: 1 })
  const [first] = json.result.items
  assert.deepEqual(first.resource, { type: 'gateway', id: 'team', name: 'team' })
  assert.equal(first.severity, 'critical')
})

test('a webhook of a guard that gives no verdicts needs attention for an hour', async t => {
  const { kept, clock, found } = await start(t)
  const soon = async () => {
    clock.advance(31_000)
    return (await found()).filter((one: string) => one.startsWith('guard_'))
  }
  const now = clock.now()
  const tally = { kind: 'limit', scope: `guards ${account}`, name: 'default', occurrences: [] } as const
  await kept.tallies.add([{ ...tally, slot: slotOf('limit', now), count: 2, last: now }])
  // A gateway without a webhook has none that fails.
  assert.deepEqual(await soon(), [])
  const { record, version } = (await kept.gateways.get(account, 'default'))!
  const url = 'https://guard.example/'
  const webhook = { url, checks: ['response'], timeout: 500, sealed: 'x' } as const
  await kept.gateways.replace({ ...record, guard: { isEnabled: true, rules: [], webhook } }, version)
  assert.deepEqual(await soon(), [
    'guard_webhook_failing: In the last hour, the webhook of the guard of the gateway default gave no verdict about 2 calls, which were refused.',
  ])
  clock.advance(4_300_000)
  assert.deepEqual(await soon(), [])
})

test('limits of policies need attention as spend limits do, the highest of those for the same calls', async t => {
  const { ask, kept, clock, found } = await start(t)
  const path = '/ai-gateway/gateways/default/policies'
  const limit = (amount: number, period: string) => ({ type: 'limit', amount, period })
  for (const policy of [
    { name: 'Low', actor: '*', action: limit(5, 'monthly') },
    { name: 'Month', actor: '*', action: limit(10, 'monthly') },
    { name: 'Hour', actor: '*', action: limit(1, 'hourly') },
    { name: 'Each', actor: 'token:{svc.token.id}', action: limit(1, 'daily') },
    { name: 'No o3', actor: '*', resource: { model: 'o3' }, action: { type: 'block' } },
  ])
    await ask('POST', path, { body: { resource: '*', ...policy } })
  const budgets = async () => (await ask('GET', `${path}/budgets`)).json.result
  const soon = async () => {
    clock.advance(31_000)
    return (await found()).filter((one: string) => one.startsWith('budget_'))
  }
  assert.deepEqual(await soon(), [])
  await ask('POST', `${path}/commit`)
  const [, month, hour, each, o3] = await budgets()
  const lines = [month, hour].map(({ budgets: [{ budget_id: bucket, amount, resets_at: end }] }) => ({
    ...{ bucket, window: { kind: 'fixed', until: Date.parse(end) } as const, limit: amount * 1e9 },
    ...{ share: 'share', total: amount * 0.9e9, confirmed: 0, keep: 0, ifLost: 0, need: 0, want: 0 },
  }))
  await kept.budgets.step({ account, sequence: 1, lease: 15_000, lines })
  const tally = { kind: 'budget', scope: `budgets ${account}`, occurrences: [] } as const
  const at = { count: 2, slot: clock.now(), last: clock.now() }
  await kept.tallies.add(
    [each, o3].map(({ policy }) => ({ ...tally, ...at, name: `policy default ${policy.id}` })),
  )
  assert.deepEqual(
    (await soon()).map((one: string) => one.replace(/in \d+/, 'in N')),
    [
      'budget_spent: The limit of $10.00 a month (policy Month) of the gateway default is 90% spent. It starts over in N days.',
      'budget_refusing: The limit of $1.00 a day (policy Each) of the gateway default refused 2 calls in the last day.',
    ],
  )
})

test('origins that get no requests, and a store that may lose writes, need attention where the token may see them', async t => {
  const server = await startRedis(t, { aof: 'everysec' })
  const { ask, given, keepToken, kept, clock } = await startApi(t, store => store, server.url)
  await useAll(kept, clock.now())
  given.configs = [zoneWith(), zoneWith({ name: 'foreign', account: '9'.repeat(32) })]
  const { json } = await ask('GET', '/attention')
  const [first, second] = json.result.items
  assert.deepEqual(
    [first.kind, first.severity, first.resource],
    ['origin_down', 'critical', { type: 'zone', id: 'main', name: 'main' }],
  )
  assert.match(first.message, /^All origins of the pool shop get no requests: http:\/\/10\.0\.0\.1:9000, /)
  assert.deepEqual([second.kind, second.resource], ['store_unsafe', null])
  const [down, ejected] = given.pools[0]!.origins as [OriginState, OriginState]
  const foundWith = async (...states: OriginState['state'][]) => {
    const origins = states.map((state, i) => ({ ...(i === 0 ? down : ejected), state }))
    given.pools = [{ ...given.pools[0]!, origins }]
    clock.advance(31_000)
    const { items } = (await ask('GET', '/attention')).json.result
    return items
      .filter(({ kind }: { kind: string }) => kind === 'origin_down')
      .map((found: { severity: string; message: string }) => `${found.severity}: ${found.message}`)
  }
  assert.deepEqual(await foundWith('unchecked', 'trial'), [])
  assert.deepEqual(await foundWith('failing'), [
    'critical: All origins of the pool shop fail their requests or get none: http://10.0.0.1:9000.',
  ])
  assert.deepEqual(await foundWith('failing', 'healthy'), [
    'warning: 1 of 2 origins of the pool shop fail their requests or get none: http://10.0.0.1:9000.',
  ])
  given.pools = [{ ...given.pools[0]!, origins: [down, ejected] }]
  assert.deepEqual(json.result.counts, { origin_down: 1, store_unsafe: json.result.items.length - 1 })
  const seen = async (...permissions: Parameters<typeof keepToken>[0]) => {
    const { value: token } = await keepToken(permissions)
    const { json } = await ask('GET', '/attention', { token })
    return Object.keys(json.result.counts).join(' ')
  }
  assert.equal(await seen('Origins Read'), 'origin_down')
  assert.equal(await seen('Metrics Read'), 'store_unsafe')
  assert.equal(await seen('OAuth Clients Write'), '')
  assert.equal((await ask('GET', '/attention', { token: null })).status, 401)
})

test('certificates whose renewal fails, or that end, need attention; those that renew themselves do not', async t => {
  const { ask, given, keepToken, clock } = await startApi(t)
  const now = clock.now()
  const host = 'a.main.test'
  const fine = {
    host,
    state: 'valid',
    issuedAt: now,
    nextAt: now + day,
    failures: 0,
    certificate: null,
    lastError: null,
  } as const
  const lastError = { at: now, message: 'unauthorized: no such page' }
  const failing = { ...fine, source: 'acme', state: 'failing', failures: 3, lastError } as const
  const found = async (holding: HostCertificateInfo) => {
    given.certificates = [holding]
    clock.advance(60_000)
    const { value: token } = await keepToken(['Zones Read'])
    const { items } = (await ask('GET', '/attention', { token })).json.result
    return items.map(
      ({ kind, severity, message }: Record<string, string>) => `${severity} ${kind}: ${message}`,
    )
  }
  assert.deepEqual(await found({ ...fine, source: 'acme', notAfter: now + 2 * day }), [])
  assert.deepEqual(await found({ ...fine, source: 'file', notAfter: now + 20 * day }), [])
  assert.deepEqual(await found({ ...fine, source: 'file', notAfter: now + 9.5 * day }), [
    'warning certificate_expiring: The certificate for a.main.test expires in 9 days.',
  ])
  const early = { ...fine, source: 'file', state: 'not_yet_valid', notAfter: now + 20 * day } as const
  assert.deepEqual(await found(early), [
    'critical certificate_failing: The certificate for a.main.test is not valid yet, and clients refuse it.',
  ])
  assert.deepEqual(await found({ ...failing, notAfter: now + 9.5 * day }), [
    'warning certificate_failing: The certificate for a.main.test expires in 9 days, and its renewal fails: unauthorized: no such page',
  ])
  assert.deepEqual(await found({ ...failing, notAfter: null }), [
    'critical certificate_failing: No certificate could be got for a.main.test: unauthorized: no such page',
  ])
  assert.deepEqual(await found({ ...failing, notAfter: now - 1 }), [
    'critical certificate_expiring: The certificate for a.main.test has expired: unauthorized: no such page',
  ])
})

test('at most twenty findings of a kind are listed, and all are counted', async t => {
  const { add, secret, ask } = await start(t)
  for (let n = 0; n < 30; n++) await add(`Shop ${n}`, { secrets: [secret(100 * day)] })
  const { items, counts } = (await ask('GET', '/attention')).json.result
  const unused = items.filter(({ kind }: { kind: string }) => kind === 'secret_unused')
  assert.deepEqual([unused.length, counts.secret_unused], [20, 30])
})

test('a store that is not trusted needs attention with what to do, and a change is refused with it', async t => {
  const { ask, kept } = await start(t)
  kept.degradation.set('store_empty', { message: 'the store is empty', remedy: 'Restore it' })
  const { json } = await ask('GET', '/attention')
  const [first] = json.result.items
  assert.deepEqual(
    [first.kind, first.severity, first.message],
    [
      'store_degraded',
      'critical',
      'The store is not trusted, and no change is confirmed: the store is empty. Restore it.',
    ],
  )
  const refused = await ask('POST', '/ai-gateway/gateways', { body: { id: 'second' } })
  assert.equal(refused.status, 503)
  assert.deepEqual(refused.json.errors, [
    {
      code: 10503,
      message: 'No change is confirmed, since the store is not trusted: the store is empty. Restore it',
    },
  ])
  kept.degradation.set('store_empty', null)
  assert.equal((await ask('POST', '/ai-gateway/gateways', { body: { id: 'second' } })).status, 200)
})

test('a key that cannot be made needs attention, once for all places of its provider', async t => {
  const { found, providersGiven, clock } = await start(t)
  const identity = { by: 'google_machine' } as const
  providersGiven.configure({
    'google-vertex-ai': { resources: ['global', 'us-east5'], project: 'acme', identity },
  })
  const see = (expiresAt: number, failure: string | null) => {
    const keys = [{ restsUntil: 0, status: 0, made: { expiresAt, failure } }]
    providersGiven.views = [
      ['global', 'us-east5'].map(resource => viewOf('google-vertex-ai', { resource, keys })),
    ]
    clock.advance(31_000)
  }
  see(clock.now() + hour, null)
  assert.deepEqual(await found(), [])
  see(clock.now() + hour, 'metadata.google.internal did not respond (timed out)')
  assert.deepEqual(await found(), [
    'provider_key_failing: The key for google-vertex-ai cannot be renewed, and calls to it fail once it expires.',
  ])
  see(0, 'metadata.google.internal did not respond (timed out)')
  assert.deepEqual(await found(), [
    'provider_key_failing: No key for google-vertex-ai can be made, so that calls to it fail.',
  ])
})
