// The verbs of `gatehouse gateway` against a real management API, as a person and a script use them.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { allowing, startApi } from '../../../admin/api.ts'
import { quickGatehouse, type Outcome } from '../../../help/command.ts'
import { account } from '../../../tokens/token-with.ts'

async function start(t: TestContext) {
  const api = await startApi(t)
  const env = { GATEHOUSE_ACCOUNT: account, GATEHOUSE_TOKEN: api.owner.value }
  const gateway = (...args: readonly string[]): Promise<Outcome> =>
    quickGatehouse(['gateway', ...args, '--url', api.origin], env)
  const kept = async (id: string) => (await api.kept.gateways.get(account, id))?.record ?? null
  return { ...api, gateway, keptOf: kept }
}

test('a gateway is created with what the options say, and closed without any', async t => {
  const { gateway, keptOf } = await start(t)
  const plain = await gateway('create', 'support')
  assert.deepEqual(plain, {
    code: 0,
    stdout: '',
    stderr: 'Created the gateway support. Calls need an API token.\n',
  })
  const settings = [
    ['authentication', 'off'],
    ['collect-logs', 'on'],
    ['log-management', '50'],
    ['log-management-strategy', 'stop-inserting'],
    ['rate-limiting-limit', '7'],
    ['rate-limiting-interval', '60'],
    ['rate-limiting-technique', 'sliding'],
    ['rate-limiting-key', 'token'],
    ['retry-max-attempts', '3'],
    ['retry-delay', '500'],
    ['retry-backoff', 'linear'],
    ['on-abandon', 'drain'],
    ['stream-usage', 'off'],
    ['default-max-tokens', '500'],
    ['unpriced-cost', '0.002'],
    ['cache-ttl', '3600'],
    ['cache-scope', 'app'],
    ['cache-invalidate-on-update', 'on'],
    ['idempotency-keys', 'on'],
    ['concurrent-calls', '9'],
  ].map(([name, value]) => `--${name}=${value}`)
  const full = await gateway('create', 'trial', ...settings, '--json')
  assert.equal(full.code, 0, full.stderr)
  assert.match(full.stderr, /Anyone who can reach it may call it now, without a token\.\n$/)
  assert.equal(JSON.parse(full.stdout).rate_limiting_key, 'token')
  assert.equal((await keptOf('support'))!.authentication, true)
  const { createdAt: _, modifiedAt: __, spendLimits, ...record } = (await keptOf('trial'))!
  const [{ id: ___, ...rule }, ...more] = spendLimits!.rules as unknown as [{ id: string }]
  assert.deepEqual(more, [])
  assert.deepEqual(rule, {
    ...{ isEnabled: true, unit: 'concurrency', limit: 9, window: null, technique: 'fixed' },
    whenUnreachable: 'closed',
  })
  assert.deepEqual(record, {
    account,
    id: 'trial',
    authentication: false,
    collectLogs: true,
    logManagement: 50,
    logManagementStrategy: 'STOP_INSERTING',
    rateLimit: { limit: 7, interval: 60, technique: 'sliding', key: 'token' },
    streamUsage: false,
    retry: { maxAttempts: 3, delay: 500, backoff: 'linear' },
    onAbandon: 'drain',
    defaultMaxTokens: 500,
    unpricedCost: 0.002,
    cacheTtl: 3600,
    cacheScope: 'app',
    isCacheInvalidatedOnUpdate: true,
    guard: null,
    hasIdempotencyKeys: true,
    byokOnly: false,
  })
})

test('set changes what is named, leaves the rest, and says so', async t => {
  const { gateway, keptOf } = await start(t)
  await gateway('create', 'support', '--collect-logs', 'on', '--log-management', '50')
  const changed = await gateway('set', 'support', '--authentication', 'off', '--log-management', '50')
  assert.deepEqual(
    [changed.code, changed.stdout, changed.stderr],
    [
      0,
      '',
      'Changed authentication of the gateway support.\nAnyone who can reach it may call it now, without a token.\n',
    ],
  )
  const record = (await keptOf('support'))!
  assert.deepEqual([record.authentication, record.collectLogs, record.logManagement], [false, true, 50])
  const again = await gateway('set', 'support', '--authentication', 'off')
  assert.equal(again.stderr, 'Nothing changed: the gateway support already has these settings.\n')
  assert.deepEqual((await keptOf('support'))!, record)
})

test('set changes limits of what calls spend, and keeps what it does not name', async t => {
  const { gateway, keptOf } = await start(t)
  const spending = ['--spend', '100/month', '--spend', '5/day', '--concurrent-calls', '4']
  await gateway('create', 'support', ...spending, '--unpriced-cost', '0.5')
  const rulesOf = async () => (await keptOf('support'))!.spendLimits?.rules ?? []
  const [month] = await rulesOf()
  const changed = await gateway('set', 'support', '--spend', '200/month')
  assert.equal(changed.stderr, 'Changed spend_limits of the gateway support.\n')
  const shown = (await rulesOf()).map(({ id, unit, limit }) => [unit, limit, id === month!.id])
  assert.deepEqual(shown, [
    ['concurrency', 4, false],
    ['cost', 200, true],
  ])
  assert.match((await gateway('set', 'support', '--spend', '200/month')).stderr, /^Nothing changed/)
  const { stdout } = await gateway('show', 'support')
  assert.match(stdout, /^spend_limits +4 calls at a time; 200 USD a month$/m)
  const off = ['--spend', 'off', '--concurrent-calls', 'off', '--unpriced-cost', 'off']
  const ended = await gateway('set', 'support', ...off)
  assert.equal(ended.stderr, 'Changed unpriced_cost, spend_limits of the gateway support.\n')
  assert.match((await gateway('show', 'support')).stdout, /^spend_limits +-$/m)
})

test('the guard is set by options, and switched off and on', async t => {
  const { gateway, keptOf } = await start(t)
  await gateway(
    'create',
    'support',
    '--guard',
    'block:request=private_key,card_number',
    '--guard',
    'redact=*',
  )
  const guardOf = async () => (await keptOf('support'))!.guard!
  const shown = (await guardOf()).rules.map(({ action, checks, patterns }) => [action, checks, patterns])
  assert.deepEqual(shown, [
    ['block', ['request'], ['private_key', 'card_number']],
    ['redact', ['request', 'response'], ['*']],
  ])
  const line = async () => /^dlp +(.*)$/m.exec((await gateway('show', 'support')).stdout)![1]
  assert.equal(await line(), 'block:request=private_key,card_number redact=*')
  const off = await gateway('set', 'support', '--guard', 'off')
  assert.equal(off.stderr, 'Changed dlp of the gateway support.\n')
  assert.deepEqual([await line(), (await guardOf()).rules.length], ['off', 2])
  await gateway('set', 'support', '--guard', 'on')
  assert.match((await gateway('set', 'support', '--guard', 'on')).stderr, /^Nothing changed/)
  assert.equal(await line(), 'block:request=private_key,card_number redact=*')
  for (const wrong of [['drop=*'], ['redact'], ['on', 'redact=*'], ['block:all=*']]) {
    const { code, stderr } = await gateway('set', 'support', ...wrong.flatMap(text => ['--guard', text]))
    assert.deepEqual([code, /^gatehouse: --guard must be on or off alone/.test(stderr)], [2, true], stderr)
  }
  assert.match((await gateway('set', 'support', '--guard', 'flag=iban')).stderr, /profiles/)
  assert.equal((await gateway('show', 'default')).stdout.match(/^dlp +(.*)$/m)![1], '-')
})

test('stored responses are counted and deleted, once that is confirmed', async t => {
  const { gateway, kept } = await start(t)
  const room = { bytes: 1_000_000, entries: 1_000 }
  const place = { account, gateway: 'default', key: 'a' }
  const bounds = { answer: 1_000_000, gateway: room, account: room, all: room }
  await kept.answers.write(place, Buffer.alloc(10), Date.now() + 60_000, bounds)
  const shown = await gateway('responses', 'default')
  assert.match(shown.stdout, /^stored +1 responses, \d+ bytes\ndeleted +never\n.* 0, of which 0 /)
  assert.equal((await gateway('delete-responses', 'default')).code, 2)
  const deleted = await gateway('delete-responses', 'default', '--yes')
  assert.equal(deleted.stderr, 'Deleted 1 stored responses of the gateway default.\n')
  assert.match((await gateway('responses', 'default')).stdout, /^stored +0 .*\ndeleted +2/)
})

test('a token for one account needs no other word of it', async t => {
  const api = await startApi(t)
  const list = (token: string) =>
    quickGatehouse(['gateway', 'list', '--url', api.origin], {
      GATEHOUSE_ACCOUNT: '',
      GATEHOUSE_TOKEN: token,
    })
  assert.match((await list(api.owner.value)).stdout, /^default /m)
  const other = await api.addAccount('Other')
  const both = allowing(['AI Gateway Read'], [account, other])
  const { value } = await api.keepToken([], { policies: [both] })
  const several = await list(value)
  assert.equal(several.code, 2)
  assert.match(several.stderr, new RegExp(`the API token is for several: .*${other} \\(Other\\)`))
  assert.equal((await list((await api.keepToken(['AI Gateway Read'])).value)).code, 0)
  const wrong = await list('svct_wrong')
  assert.deepEqual([wrong.code, /\(10000|authentic/i.test(wrong.stderr)], [1, true], wrong.stderr)
})

test('what is wrong is said before or by the API, with nothing done', async t => {
  const { gateway, keptOf } = await start(t)
  const before = await keptOf('default')
  for (const [args, code, sentence] of [
    [['set', 'default'], 2, /^gatehouse: nothing to change; see gatehouse gateway set --help\n$/],
    [['set', 'default', '--authentication', 'no'], 2, /^gatehouse: --authentication must be on or off\n$/],
    [
      ['set', 'default', '--log-management', 'all'],
      2,
      /^gatehouse: --log-management must be a whole number\n$/,
    ],
    [
      ['set', 'De fault', '--stream-usage', 'off'],
      2,
      /^gatehouse: the id of a gateway has 1 to 64 lower-case /,
    ],
    [['set', 'default', '--spend', '5'], 2, /^gatehouse: --spend must be USD in a minute, /],
    [['create', 'new', '--spend', '5'], 2, /^gatehouse: --spend must be USD in a minute, /],
    [['set', 'default', '--unpriced-cost', 'free'], 2, /--unpriced-cost must be an amount of USD such as/],
    [['set', 'default', '--spend', '9999999/day'], 1, /limit must be a number of USD above 0, up to 1000000/],
    [['set', 'default', '--rate-limiting-limit', '5'], 1, /rate_limiting_interval must be at least 1 second/],
    [['set', 'nobody', '--stream-usage', 'off'], 1, /^gatehouse: Gateway not found/],
    [['create', 'default'], 1, /^gatehouse: id is taken by another gateway/],
    [['delete', 'default'], 2, /^gatehouse: deleting a gateway deletes its log entries, .*; say --yes\n$/],
  ] as const) {
    const outcome = await gateway(...args)
    assert.deepEqual([outcome.code, outcome.stdout], [code, ''], args.join(' '))
    assert.match(outcome.stderr, sentence)
  }
  assert.deepEqual(await keptOf('default'), before)
})

test('list and show have the settings, and delete removes the gateway', async t => {
  const { gateway, keptOf } = await start(t)
  await gateway('create', 'support', '--rate-limiting-limit', '7', '--rate-limiting-interval', '60')
  const { stdout } = await gateway('list')
  assert.match(stdout, /^GATEWAY ID +AUTHENTICATION +BODIES +LOG ENTRIES +RATE LIMIT +CREATED\n/)
  assert.match(stdout, /^support +on +off +last 100000 +7 in 60 s +\d{4}-\d\d-\d\d$/m)
  const listed: { id: string }[] = JSON.parse((await gateway('list', '--json')).stdout)
  assert.deepEqual(listed.map(({ id }) => id).toSorted(), ['default', 'support'])
  assert.match((await gateway('show', 'support')).stdout, /^rate_limiting_interval +60$/m)
  assert.deepEqual(
    JSON.parse((await gateway('show', 'support', '--json')).stdout),
    listed.find(({ id }) => id === 'support'),
  )
  const deleted = await gateway('delete', 'support', '--yes')
  assert.deepEqual(deleted, { code: 0, stdout: '', stderr: 'Deleted the gateway support.\n' })
  assert.equal(await keptOf('support'), null)
})
