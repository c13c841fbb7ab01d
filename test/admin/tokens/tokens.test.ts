import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { permissionGroups } from '../../../src/permissions/permission-groups.ts'
import type { Permission } from '../../../src/permissions/permit.ts'
import type { SpendRule } from '../../../src/store/records/budget-rule.ts'
import { digestOf, isWellFormed } from '../../../src/tokens/token.ts'
import { anyCharacter } from '../../help/any-text.ts'
import { account } from '../../tokens/token-with.ts'
import { allowing, startApi } from '../api.ts'
import { keepAccess } from '../oauth-grants/access.ts'
import { meet } from '../../help/meet.ts'
import { thorough } from '../../help/thorough.ts'
import { auditQuery } from '../../store/contract-specimens.ts'

const resources = { [`svc.api.account.${account}`]: '*' }

const idOf = (name: Permission) => permissionGroups.find(group => group.name === name)!.id

/** The body of a token that allows what is named. */
function bodyOf(names: readonly Permission[], more: object = {}) {
  const policy = { effect: 'allow', permission_groups: names.map(name => ({ id: idOf(name) })), resources }
  return { name: 'deploy', policies: [policy], ...more }
}

test('a token is created, its value shown once and never stored', async t => {
  const { ask, kept } = await startApi(t)
  const made = await ask('POST', '/tokens', {
    body: bodyOf(['AI Gateway Run'], { expires_on: '2026-06-01T00:00:00.000Z' }),
  })
  assert.equal(made.status, 200)
  assert.equal(made.headers.get('cache-control'), 'no-store')
  const { value, ...shown } = made.json.result
  assert.ok(isWellFormed(value))
  assert.match(shown.id, /^[0-9a-f]{32}$/)
  const [{ id: policyId }] = shown.policies
  assert.deepEqual(shown, {
    id: shown.id,
    name: 'deploy',
    status: 'active',
    policies: [
      {
        id: policyId,
        effect: 'allow',
        permission_groups: [{ id: idOf('AI Gateway Run'), name: 'AI Gateway Run' }],
        resources,
      },
    ],
    expires_on: '2026-06-01T00:00:00.000Z',
    issued_on: '2026-01-01T00:00:00.000Z',
    modified_on: '2026-01-01T00:00:00.000Z',
  })
  assert.deepEqual((await ask('GET', `/tokens/${shown.id}`)).json.result, shown)
  const record = (await kept.tokens.get(account, shown.id))!.record
  assert.equal(record.digest, digestOf(value))
  assert.ok(!JSON.stringify(record).includes(value))
})

test('a token that is created or rolled again under its key is the same one', async t => {
  const { ask } = await startApi(t)
  const keyed = { headers: { 'idempotency-key': 'k' } }
  const make = (more = {}) => ask('POST', '/tokens', { body: bodyOf(['AI Gateway Run'], more), ...keyed })
  const [made, again] = [await make(), await make()]
  assert.deepEqual(again.json, made.json)
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
  assert.equal((await make({ name: 'other' })).status, 422)
  assert.equal((await ask('GET', '/tokens')).json.result_info.total_count, 2)
  const { id, value } = made.json.result
  const roll = (headers = {}) => ask('PUT', `/tokens/${id}/value`, { headers })
  const [first, second] = [await roll(keyed.headers), await roll(keyed.headers)]
  assert.equal(second.json.result, first.json.result)
  assert.notEqual(first.json.result, value)
  assert.equal((await ask('GET', '/tokens/verify', { token: first.json.result })).status, 200)
  assert.notEqual((await roll()).json.result, first.json.result)
})

test('a new token works at once, and says so', async t => {
  const { ask } = await startApi(t)
  const body = bodyOf(['AI Gateway Run'], { not_before: '2026-01-01T00:00:00.000Z' })
  const { id, value } = (await ask('POST', '/tokens', { body })).json.result
  const { json } = await ask('GET', '/tokens/verify', { token: value })
  assert.deepEqual(json.result, { id, status: 'active', not_before: '2026-01-01T00:00:00.000Z' })
})

test('a token cannot grant what it does not allow itself: neither new, nor by update, nor by roll', async t => {
  const { ask, keepToken, owner } = await startApi(t)
  const clerk = await keepToken(['API Tokens Write', 'AI Gateway Run'])
  const small = await keepToken(['AI Gateway Run'])
  const asClerk = { token: clerk.value }
  for (const [method, path, options] of [
    ['POST', '/tokens', { body: bodyOf(['AI Gateway Run', 'AI Gateway Edit']) }],
    ['PUT', `/tokens/${small.token.id}`, { body: bodyOf(['AI Gateway Run', 'AI Gateway Edit']) }],
    ['PUT', `/tokens/${owner.token.id}/value`, {}],
  ] as const) {
    const { status, json } = await ask(method, path, { ...options, ...asClerk })
    assert.equal(status, 403, `${method} ${path}`)
    assert.ok(json.errors.some(({ message }: Error) => message.includes('AI Gateway Edit')))
  }
  assert.equal(
    (await ask('POST', '/tokens', { body: bodyOf(['AI Gateway Run', 'API Tokens Read']), ...asClerk }))
      .status,
    200,
  )
  assert.equal((await ask('PUT', `/tokens/${small.token.id}/value`, asClerk)).status, 200)
})

test('a token that allows more is not disabled, rewritten or deleted by one that allows less', async t => {
  const { ask, keepToken, kept, owner } = await startApi(t)
  const { value } = await keepToken(['API Tokens Write', 'AI Gateway Run'])
  const path = `/tokens/${owner.token.id}`
  const body = bodyOf(['AI Gateway Run'], { status: 'disabled' })
  for (const [method, options] of [
    ['PUT', { body }],
    ['DELETE', {}],
  ] as const) {
    const { status, json } = await ask(method, path, { ...options, token: value })
    assert.equal(status, 403, method)
    const [first] = json.errors
    assert.match(first.message, /^Forbidden: your token does not have OAuth Clients Read/)
    assert.equal('source' in first, false)
  }
  assert.deepEqual((await kept.tokens.get(account, owner.token.id))!.record, owner.token)
})

test('a token that is given more while it is updated is left as it is by one that allows less', async t => {
  const { ask, keepToken, kept } = await startApi(t)
  const get = kept.tokens.get.bind(kept.tokens)
  kept.tokens.get = async (...key) => {
    const read = (await get(...key))!
    const stronger = { ...read.record, name: 'strong', policies: [allowing(['AI Gateway Edit'])] }
    if (read.record.name === 'small') assert.ok(await kept.tokens.replace(stronger, read.version))
    return read
  }
  const clerk = await keepToken(['API Tokens Write', 'AI Gateway Run'])
  const { token } = await keepToken(['AI Gateway Run'], { name: 'small' })
  const body = bodyOf(['AI Gateway Run'])
  const { status } = await ask('PUT', `/tokens/${token.id}`, { body, token: clerk.value })
  assert.equal(status, 403)
  assert.equal((await kept.tokens.get(account, token.id))!.record.name, 'strong')
})

test('a token deletes itself, and what allows no more', async t => {
  const { ask, keepToken } = await startApi(t)
  const { token, value } = await keepToken(['API Tokens Write', 'AI Gateway Run'])
  const small = await keepToken(['AI Gateway Run'])
  for (const { id } of [small.token, token])
    assert.equal((await ask('DELETE', `/tokens/${id}`, { token: value })).status, 200)
})

test('a permission that a policy of the caller denies cannot be granted', async t => {
  const { ask, keepToken } = await startApi(t)
  const { token, value } = await keepToken(['API Tokens Write', 'AI Gateway Run'])
  const deny = {
    id: token.id,
    effect: 'deny',
    permissionGroups: [idOf('AI Gateway Run')],
    accounts: ['*'],
  } as const
  const cautious = await keepToken([], { policies: [...token.policies, deny] })
  assert.equal((await ask('POST', '/tokens', { body: bodyOf(['AI Gateway Run']), token: value })).status, 200)
  assert.equal(
    (await ask('POST', '/tokens', { body: bodyOf(['AI Gateway Run']), token: cautious.value })).status,
    403,
  )
})

test('a read permission that a policy of the caller denies is not granted within a write permission', async t => {
  const { ask, keepToken } = await startApi(t)
  const deny = { ...allowing(['AI Gateway Read']), effect: 'deny' } as const
  const { value } = await keepToken([], {
    policies: [allowing(['API Tokens Write', 'AI Gateway Edit']), deny],
  })
  const { status, json } = await ask('POST', '/tokens', { body: bodyOf(['AI Gateway Edit']), token: value })
  assert.equal(status, 403)
  assert.match(json.errors[0].message, /does not have AI Gateway Read/)
})

test('a token cannot create, update or roll a token that outlives it', async t => {
  const { ask, keepToken } = await startApi(t)
  const names = ['API Tokens Write', 'AI Gateway Run'] as const
  const { token, value } = await keepToken(names, { expiresOn: Date.UTC(2100, 0) })
  const within = { expires_on: '2100-01-01T00:00:00.000Z' }
  for (const more of [{}, { expires_on: '2100-01-01T00:00:01.000Z' }]) {
    for (const [method, path] of [
      ['POST', '/tokens'],
      ['PUT', `/tokens/${token.id}`],
    ] as const) {
      const { status, json } = await ask(method, path, {
        body: bodyOf(['AI Gateway Run'], more),
        token: value,
      })
      assert.equal(status, 403)
      assert.deepEqual(json.errors, [
        {
          code: 10000,
          message:
            'Forbidden: expires_on must be set, and not be later than that of your token, 2100-01-01T00:00:00.000Z',
          source: { pointer: '/expires_on' },
        },
      ])
    }
  }
  const lasting = await keepToken(['AI Gateway Run'])
  const path = `/tokens/${lasting.token.id}`
  const rolled = await ask('PUT', `${path}/value`, { token: value })
  assert.deepEqual([rolled.status, 'source' in rolled.json.errors[0]], [403, false])
  assert.match(rolled.json.errors[0].message, /expires_on must be set/)
  for (const [method, path, options] of [
    ['POST', '/tokens', { body: bodyOf(['AI Gateway Run'], within) }],
    ['PUT', `/tokens/${lasting.token.id}`, { body: bodyOf(['AI Gateway Run'], within) }],
    ['PUT', `/tokens/${lasting.token.id}/value`, {}],
    ['PUT', `/tokens/${token.id}/value`, {}],
  ] as const)
    assert.equal((await ask(method, path, { ...options, token: value })).status, 200, path)
})

test('spend limits are replaced with the other settings, and their change is audited', async t => {
  const { ask, kept } = await startApi(t)
  const rules = [{ id: 'day', limit: 0.1, limitType: 'cost', window: 'day' }]
  const made = await ask('POST', '/tokens', { body: bodyOf(['AI Gateway Run'], { spend_limits: { rules } }) })
  const { id, spend_limits } = made.json.result
  const shown = { time_zone: 'UTC', technique: 'fixed', when_store_unreachable: 'closed' }
  assert.deepEqual(spend_limits, { enabled: true, rules: [{ ...rules[0], enabled: true, ...shown }] })
  const { value: _, ...read } = made.json.result
  const changed = { ...read, spend_limits: { ...spend_limits, enabled: false } }
  const put = await ask('PUT', `/tokens/${id}`, { body: changed })
  assert.deepEqual(put.json.result.spend_limits, changed.spend_limits)
  const gone = await ask('PUT', `/tokens/${id}`, { body: bodyOf(['AI Gateway Run']) })
  assert.equal('spend_limits' in gone.json.result, false)
  assert.equal((await kept.tokens.get(account, id))!.record.spendLimits, undefined)
  const { items } = await kept.audit.list(account, auditQuery())
  const updates = items.filter(({ resource, action }) => resource === id && action === 'update')
  assert.deepEqual(
    updates.map(({ changed }) => changed),
    [['spend_limits'], ['spend_limits']],
  )
  const after = updates.map(({ values }) => values?.after.spend_limits)
  assert.deepEqual(after.filter(Boolean), [changed.spend_limits])
})

test('a token with spend limits makes, changes and rolls no token that runs models, itself included', async t => {
  const { ask, keepToken } = await startApi(t)
  const rule: SpendRule = {
    ...{ id: 'r', isEnabled: true, unit: 'cost', limit: 1, window: 60, technique: 'fixed' },
    whenUnreachable: 'closed',
  }
  const limitedTo = (isEnabled: boolean, isInEffect: boolean) =>
    keepToken(['API Tokens Write', 'AI Gateway Run'], {
      spendLimits: { isEnabled, rules: [{ ...rule, isEnabled: isInEffect }] },
    })
  const { token, value } = await limitedTo(true, true)
  const other = await keepToken(['AI Gateway Run'])
  const body = bodyOf(['AI Gateway Run'], {
    spend_limits: { rules: [{ limit: 1, limitType: 'cost', window: 60 }] },
  })
  for (const [method, path, options] of [
    ['POST', '/tokens', { body }],
    ['PUT', `/tokens/${token.id}`, { body }],
    ['PUT', `/tokens/${other.token.id}`, { body }],
    ['PUT', `/tokens/${other.token.id}/value`, {}],
  ] as const) {
    const { status, json } = await ask(method, path, { ...options, token: value })
    assert.equal(status, 403, `${method} ${path}`)
    const rule = 'your token has spend_limits, so it cannot create or change a token that runs models'
    assert.equal(json.errors[0].message, `Forbidden: ${rule}`)
  }
  const harmless = bodyOf(['API Tokens Read'])
  assert.equal((await ask('POST', '/tokens', { body: harmless, token: value })).status, 200)
  for (const free of [await limitedTo(false, true), await limitedTo(true, false)])
    assert.equal((await ask('POST', '/tokens', { body, token: free.value })).status, 200)
})

test('a token cannot create one that is valid from more addresses than itself', async t => {
  const { ask, keepToken } = await startApi(t)
  const { value } = await keepToken(['API Tokens Write', 'AI Gateway Run'], {
    addressesIn: ['127.0.0.0/8', '2001:db8::/32'],
    addressesNotIn: ['127.9.0.0/16'],
  })
  const [noIn, noNotIn] = ['/condition/request_ip/in', '/condition/request_ip/not_in']
  const not_in = ['127.9.0.0/16']
  for (const [request_ip, pointers] of [
    [undefined, [noIn, noNotIn]],
    [{ not_in }, [noIn]],
    [{ in: ['0.0.0.0/0'], not_in }, [noIn]],
    [{ in: ['127.0.0.0/7'], not_in }, [noIn]],
    [{ in: ['127.1.2.3', '128.1.2.3'], not_in }, [noIn]],
    [{ in: ['::/0'], not_in }, [noIn]],
    [{ in: ['127.1.2.3'] }, [noNotIn]],
    [{ in: ['127.1.2.3'], not_in: ['127.9.0.0/17'] }, [noNotIn]],
    [{ in: ['127.0.0.0/8', '2001:db8::/32'], not_in }, []],
    [{ in: ['127.1.2.3', '2001:db8:1::/48', '::ffff:127.1.2.0/120'], not_in: ['::1', '127.0.0.0/8'] }, []],
  ] as const) {
    const body = bodyOf(['AI Gateway Run'], request_ip && { condition: { request_ip } })
    const { status, json } = await ask('POST', '/tokens', { body, token: value })
    assert.deepEqual(
      json.errors.map(({ source }: { source: { pointer: string } }) => source.pointer),
      pointers,
      JSON.stringify(request_ip),
    )
    assert.equal(status, pointers.length > 0 ? 403 : 200)
  }
  const lasting = await keepToken(['AI Gateway Run'])
  const rolled = await ask('PUT', `/tokens/${lasting.token.id}/value`, { token: value })
  assert.equal(rolled.status, 403)
  assert.match(
    rolled.json.errors[0].message,
    /request_ip\.in must be set.*: 127\.0\.0\.0\/8, 2001:db8::\/32$/,
  )
})

test('a token that is limited to gateways or models cannot create one that is not', async t => {
  const { ask, keepToken } = await startApi(t)
  const { value } = await keepToken(['API Tokens Write', 'AI Gateway Run'], {
    gateways: ['default', 'team-*'],
    models: ['openai/*', 'fast'],
  })
  const gateways = ['team-a']
  const models = ['openai/gpt-4o*']
  for (const [limits, pointers] of [
    [{}, ['/gateways', '/models']],
    [{ gateways }, ['/models']],
    [{ gateways, models: null }, ['/models']],
    [{ gateways: ['team-a', 'other'], models }, ['/gateways']],
    [{ gateways: ['*'], models: ['*'] }, ['/gateways', '/models']],
    [{ gateways: ['team*'], models: ['open*/*'] }, ['/gateways', '/models']],
    [{ gateways, models: ['f*'] }, ['/models']],
    [{ gateways, models: ['openai/gpt-4o', 'FAST'] }, ['/models']],
    [{ gateways, models }, []],
    [{ gateways: ['default', 'team-*'], models: ['openai/*', 'openai/*-mini', 'fast'] }, []],
  ] as const) {
    const { status, json } = await ask('POST', '/tokens', {
      body: bodyOf(['AI Gateway Run'], limits),
      token: value,
    })
    const found = json.errors.map(({ source }: { source: { pointer: string } }) => source.pointer)
    assert.deepEqual(found, pointers, JSON.stringify(limits))
    assert.equal(status, pointers.length > 0 ? 403 : 200)
  }
  const free = await keepToken(['AI Gateway Run'])
  for (const [method, path, options] of [
    ['PUT', `/tokens/${free.token.id}`, { body: bodyOf(['AI Gateway Run']) }],
    ['PUT', `/tokens/${free.token.id}/value`, {}],
  ] as const)
    assert.equal((await ask(method, path, { ...options, token: value })).status, 403, path)
})

test('the limits of a token are shown, changed, removed and audited', async t => {
  const { ask } = await startApi(t)
  const limits = { gateways: ['team-*'], models: ['openai/gpt-4o*', 'fast'] }
  const made = (await ask('POST', '/tokens', { body: bodyOf(['AI Gateway Run'], limits) })).json.result
  assert.deepEqual([made.gateways, made.models], [limits.gateways, limits.models])
  const path = `/tokens/${made.id}`
  const body = bodyOf(['AI Gateway Run'], { models: ['fast'] })
  const changed = (await ask('PUT', path, { body })).json.result
  assert.deepEqual([changed.gateways, changed.models], [undefined, ['fast']])
  const [audit] = (await ask('GET', '/audit_logs')).json.result
  assert.deepEqual(audit.metadata.changed, ['gateways', 'models'])
  assert.deepEqual(
    [audit.oldValue, audit.newValue].map(value => JSON.parse(value)),
    [limits, { models: ['fast'] }],
  )
  assert.deepEqual(
    (await ask('PUT', path, { body: bodyOf(['AI Gateway Run']) })).json.result.models,
    undefined,
  )
})

test('a token for all accounts is rolled by such a token only', async t => {
  const { ask, keepToken } = await startApi(t)
  const names = ['API Tokens Write'] as const
  const one = await keepToken(names)
  const all = await keepToken([], { policies: [allowing(names, ['*'])] })
  const path = `/tokens/${all.token.id}/value`
  assert.equal((await ask('PUT', path, { token: one.value })).status, 403)
  assert.equal((await ask('PUT', path, { token: all.value })).status, 200)
})

test('a roll ends the old value and shows the new one as a string', async t => {
  const { ask, keepToken } = await startApi(t)
  const { token, value } = await keepToken(['AI Gateway Run'])
  assert.equal((await ask('GET', '/tokens/verify', { token: value })).status, 200)
  const rolled = (await ask('PUT', `/tokens/${token.id}/value`)).json.result
  assert.ok(isWellFormed(rolled))
  assert.equal((await ask('GET', '/tokens/verify', { token: value })).status, 401)
  assert.equal((await ask('GET', '/tokens/verify', { token: rolled })).status, 200)
})

test('an update replaces everything except the status, which must be named to change', async t => {
  const { ask, keepToken } = await startApi(t)
  const { token, value } = await keepToken(['AI Gateway Run'], {
    addressesIn: ['127.0.0.1'],
    expiresOn: 9e12,
  })
  const path = `/tokens/${token.id}`
  const disabled = await ask('PUT', path, {
    body: bodyOf(['AI Gateway Run'], { status: 'disabled', name: 'off' }),
  })
  assert.equal(disabled.json.result.status, 'disabled')
  assert.equal('condition' in disabled.json.result || 'expires_on' in disabled.json.result, false)
  assert.equal((await ask('GET', '/tokens/verify', { token: value })).status, 401)
  assert.equal((await ask('PUT', path, { body: bodyOf(['AI Gateway Read']) })).json.result.status, 'disabled')
  const active = await ask('PUT', path, { body: bodyOf(['AI Gateway Read'], { status: 'active' }) })
  assert.equal(active.json.result.status, 'active')
  assert.equal((await ask('GET', '/tokens/verify', { token: value })).status, 200)
})

test('a record can be written back as it was read', async t => {
  const { ask } = await startApi(t)
  const condition = { request_ip: { in: ['192.0.2.0/24'], not_in: ['192.0.2.1'] } }
  const limits = { condition, gateways: ['default'], models: ['openai/*'] }
  const { value, ...made } = (await ask('POST', '/tokens', { body: bodyOf(['AI Gateway Run'], limits) })).json
    .result
  assert.deepEqual(made.condition, condition)
  const { status, json } = await ask('PUT', `/tokens/${made.id}`, { body: made })
  assert.equal(status, 200, JSON.stringify(json))
  assert.deepEqual({ ...json.result, policies: null }, { ...made, policies: null })
})

test('after concurrent updates, one of them is stored as a whole', async t => {
  const { ask, keepToken, kept } = await startApi(t)
  const { token } = await keepToken(['AI Gateway Run'])
  meet(t, kept.tokens, 'get', 20)
  const put = (i: number) => {
    const expires_on = new Date(Date.UTC(2027, 0, i + 1)).toISOString()
    return ask('PUT', `/tokens/${token.id}`, {
      body: bodyOf(['AI Gateway Run'], { name: `writer ${i}`, expires_on }),
    })
  }
  const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => put(i)))
  assert.ok(replies.every(({ status }) => status === 200))
  const { name, expires_on } = (await ask('GET', `/tokens/${token.id}`)).json.result
  assert.equal(
    expires_on.slice(0, 10),
    new Date(Date.UTC(2027, 0, Number(name.split(' ')[1]) + 1)).toISOString().slice(0, 10),
  )
})

test('a deleted token is gone, and its id is 404 in every way', async t => {
  const { ask, keepToken } = await startApi(t)
  const { token, value } = await keepToken(['AI Gateway Run'])
  assert.deepEqual((await ask('DELETE', `/tokens/${token.id}`)).json.result, { id: token.id })
  assert.equal((await ask('GET', '/tokens/verify', { token: value })).status, 401)
  for (const id of [token.id, 'x', '%00', token.id.toUpperCase()]) {
    for (const [method, path, options] of [
      ['GET', `/tokens/${id}`, {}],
      ['PUT', `/tokens/${id}`, { body: bodyOf(['AI Gateway Run']) }],
      ['DELETE', `/tokens/${id}`, {}],
      ['PUT', `/tokens/${id}/value`, {}],
    ] as const) {
      const { status, json } = await ask(method, path, options)
      assert.deepEqual([status, json.errors[0].code], [404, 7003], `${method} ${path}`)
    }
  }
})

test('tokens are listed by page, expired ones only on request, turned round if wanted', async t => {
  const { ask, keepToken, clock, owner } = await startApi(t)
  for (let i = 1; i <= 5; i++)
    await keepToken([], { name: `t${i}`, issuedOn: i, expiresOn: i === 3 ? clock.now() : null })
  const names = async (query: string) => {
    const { json } = await ask('GET', `/tokens${query}`)
    const { cursor, ...info } = json.result_info
    return [json.result.map(({ name }: { name: string }) => name), info]
  }
  const all = [owner.token.name, 't1', 't2', 't4', 't5']
  assert.deepEqual(await names(''), [all, { page: 1, per_page: 20, count: 5, total_count: 5 }])
  assert.deepEqual(await names('?page=2&per_page=2'), [
    ['t2', 't4'],
    { page: 2, per_page: 2, count: 2, total_count: 5 },
  ])
  assert.deepEqual(await names('?page=9&per_page=2'), [
    [],
    { page: 9, per_page: 2, count: 0, total_count: 5 },
  ])
  assert.deepEqual((await names('?direction=desc'))[0], all.toReversed())
  assert.deepEqual(await names('?include_expired=true&per_page=3&page=2'), [
    ['t3', 't4', 't5'],
    { page: 2, per_page: 3, count: 3, total_count: 6 },
  ])
  assert.deepEqual((await names('?name=T4'))[0], ['t4'])
  assert.deepEqual((await names('?name=t3'))[0], [])
  assert.deepEqual((await names('?name=t3&include_expired=true'))[0], ['t3'])
  const expired = await ask('GET', '/tokens?include_expired=true&direction=desc')
  assert.equal(expired.json.result.find(({ name }: { name: string }) => name === 't3').status, 'expired')
})

test('a list never shows a value or a digest', async t => {
  const { ask, owner } = await startApi(t)
  const { json } = await ask('GET', '/tokens?include_expired=true')
  const text = JSON.stringify(json)
  assert.ok(!text.includes(owner.value) && !text.includes(owner.token.digest) && !text.includes('svct_'))
})

test('queries that break a rule are 400 with the name and the rule', async t => {
  const { ask } = await startApi(t)
  for (const [query, message] of [
    ['page=0', 'page must be a whole number from 1 to 1000000'],
    ['per_page=5000', 'per_page must be a whole number from 1 to 100'],
    ['direction=up', 'direction must be asc or desc'],
    ['include_expired=1', 'include_expired must be false or true'],
    ['colour=red', 'colour is an unknown query parameter'],
  ] as const) {
    const { status, json } = await ask('GET', `/tokens?${query}`)
    assert.deepEqual([status, json.errors.map((error: Error) => error.message)], [400, [message]])
  }
})

test('permission groups are listed with what they cover, optionally by name and scope', async t => {
  const { ask, keepToken } = await startApi(t)
  const { json } = await ask('GET', '/tokens/permission_groups')
  assert.deepEqual(
    json.result.map(({ name }: { name: string }) => name),
    permissionGroups.map(({ name }) => name),
  )
  const { value } = await keepToken(['API Tokens Read'])
  const one = await ask('GET', '/tokens/permission_groups?name=AI%20Gateway%20Run&scope=svc.api.account', {
    token: value,
  })
  assert.deepEqual(one.json.result, [
    { ...permissionGroups.find(({ name }) => name === 'AI Gateway Run'), is_selectable: false },
  ])
  assert.deepEqual((await ask('GET', '/tokens/permission_groups?scope=zone')).json.result, [])
})

test('random bodies are never a 5xx, and what is kept keeps the rules', async t => {
  const { ask, kept, bugs } = await startApi(t)
  const junk = fc.jsonValue({ maxDepth: 2 })
  const policy = fc.record({
    effect: fc.oneof(fc.constantFrom('allow', 'deny'), junk),
    permission_groups: fc.oneof(
      fc.array(fc.oneof(fc.constantFrom(...permissionGroups.map(({ id }) => ({ id }))), junk)),
      junk,
    ),
    resources: fc.oneof(fc.constant(resources), junk),
  })
  const body = fc.record(
    {
      name: fc.oneof(fc.string({ unit: anyCharacter }), junk),
      policies: fc.oneof(fc.array(fc.oneof(policy, junk), { maxLength: 3 }), junk),
      condition: junk,
      expires_on: fc.oneof(
        junk,
        fc.date({ noInvalidDate: true }).map(date => date.toISOString()),
      ),
      not_before: fc.oneof(
        junk,
        fc.date({ noInvalidDate: true }).map(date => date.toISOString()),
      ),
    },
    { requiredKeys: ['name', 'policies'] },
  )
  await fc.assert(
    fc.asyncProperty(fc.oneof(body, junk), async some => {
      const { status } = await ask('POST', '/tokens', { body: JSON.stringify(some) })
      assert.ok(status < 500, String(status))
    }),
    { numRuns: thorough(300, 80) },
  )
  assert.deepEqual(bugs, [])
  const { items } = await kept.tokens.list(account, { offset: 0, limit: 2_000 })
  for (const { name, policies, accounts } of items.flatMap(token =>
    token.policies.map(policy => ({ ...token, ...policy })),
  )) {
    assert.ok(name.trim() !== '' && name.length <= 120)
    assert.ok(policies.length > 0)
    assert.deepEqual(accounts, [account])
  }
})

test('an app makes no token that would outlast what its user allowed, and may delete one', async t => {
  const { ask, kept, clock, keepToken } = await startApi(t)
  const scopes = ['api_tokens.write', 'ai_gateway.run']
  const { value: app } = await keepAccess(kept, { now: clock.now(), scopes })
  const { token } = await keepToken(['AI Gateway Run'], { expiresOn: clock.now() + 1_000 })
  const body = {
    name: 'for later',
    policies: [
      {
        effect: 'allow',
        permission_groups: [{ name: 'AI Gateway Run' }],
        resources: { [`svc.api.account.${account}`]: '*' },
      },
    ],
    expires_on: new Date(clock.now() + 1_000).toISOString(),
  }
  for (const [method, path, more] of [
    ['POST', '/tokens', { body }],
    ['PUT', `/tokens/${token.id}`, { body }],
    ['PUT', `/tokens/${token.id}/value`, {}],
  ] as const) {
    const { status, json } = await ask(method, path, { token: app, ...more })
    assert.equal(status, 403, path)
    assert.match(json.errors[0].message, /an app cannot (create|change|roll) an API token/)
  }
  assert.equal((await ask('GET', '/tokens', { token: app })).status, 200)
  assert.equal((await ask('DELETE', `/tokens/${token.id}`, { token: app })).status, 200)
})

test('a use in the hour in which a token was created is shown no earlier than that', async t => {
  const { ask, kept, clock } = await startApi(t)
  clock.advance(25 * 60_000)
  const { json } = await ask('POST', '/tokens', { body: bodyOf(['AI Gateway Run']) })
  const { id, issued_on } = json.result
  const hour = 3_600_000
  assert.notEqual(Date.parse(issued_on) % hour, 0)
  await kept.tokens.noteUses([{ account, id, at: Date.parse(issued_on) - (Date.parse(issued_on) % hour) }])
  const { json: one } = await ask('GET', `/tokens/${id}`)
  const { json: all } = await ask('GET', '/tokens')
  const listed = all.result.find((token: { id: string }) => token.id === id)
  assert.deepEqual([one.result.last_used_on, listed.last_used_on], [issued_on, issued_on])
})

test('a token shows when it was last used, and what else it shows stays as it was', async t => {
  const { ask, kept } = await startApi(t)
  const { value, ...made } = (await ask('POST', '/tokens', { body: bodyOf(['AI Gateway Run']) })).json.result
  const { id } = made
  const at = Date.UTC(2026, 0, 1, 7)
  await kept.tokens.noteUses([{ account, id, at }])
  const used = { ...made, last_used_on: '2026-01-01T07:00:00.000Z' }
  assert.deepEqual((await ask('GET', `/tokens/${id}`)).json.result, used)
  const listed = (await ask('GET', '/tokens')).json.result
  assert.deepEqual(
    listed.map(({ last_used_on = null }) => last_used_on),
    [null, used.last_used_on],
  )
  assert.deepEqual(listed[1], used)
  // It may be put back as it was got, and cannot be set.
  const changed = await ask('PUT', `/tokens/${id}`, {
    body: { ...used, name: 'other', last_used_on: '2020-01-01T00:00:00.000Z' },
  })
  assert.deepEqual([changed.status, changed.json.result.last_used_on], [200, used.last_used_on])
  await ask('PUT', `/tokens/${id}/value`)
  assert.equal((await ask('GET', `/tokens/${id}`)).json.result.last_used_on, used.last_used_on)
  const [, audit] = (await ask('GET', '/audit_logs')).json.result
  assert.deepEqual(audit.metadata.changed, ['name'])
})

test('a change can be bound to what its caller has read, which its use is no part of', async t => {
  const { ask, keepToken, kept } = await startApi(t)
  const { token } = await keepToken(['AI Gateway Run'])
  const path = `/tokens/${token.id}`
  const ifMatch = { 'if-match': (await ask('GET', path)).headers.get('etag')! }
  await kept.tokens.noteUses([{ account: token.account, id: token.id, at: Date.UTC(2026, 2, 4) }])
  const first = await ask('PUT', path, { body: bodyOf(['AI Gateway Run']), headers: ifMatch })
  assert.equal(first.status, 200)
  const second = await ask('PUT', path, { body: bodyOf(['AI Gateway Read']), headers: ifMatch })
  assert.deepEqual([second.status, second.headers.get('etag')], [412, first.headers.get('etag')])
  assert.equal((await ask('GET', path)).headers.get('etag'), first.headers.get('etag'))
})
