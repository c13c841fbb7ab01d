import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { permissionGroups } from '../../src/tokens/permission-groups.ts'
import type { Permission } from '../../src/tokens/permit.ts'
import { digestOf, isWellFormed } from '../../src/tokens/token.ts'
import { account } from '../tokens/token-with.ts'
import { allowing, startApi } from './api.ts'

const resources = { [`svc.api.account.${account}`]: '*' }

const idOf = (name: Permission) => permissionGroups.find(group => group.name === name)!.id

/** The body of a token that allows what is named. */
function bodyOf(names: readonly Permission[], more: object = {}) {
  const policy = { effect: 'allow', permission_groups: names.map(name => ({ id: idOf(name) })), resources }
  return { name: 'deploy', policies: [policy], ...more }
}

test('a token is made, its value shown once and never kept', async t => {
  const { ask, kept } = await startApi(t)
  const made = await ask('POST', '/tokens', {
    body: bodyOf(['AI Gateway Run'], { expires_on: '2026-06-01T00:00:00Z' }),
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
    expires_on: '2026-06-01T00:00:00Z',
    issued_on: '2026-01-01T00:00:00Z',
    modified_on: '2026-01-01T00:00:00Z',
  })
  assert.deepEqual((await ask('GET', `/tokens/${shown.id}`)).json.result, shown)
  const record = (await kept.tokens.get(account, shown.id))!.record
  assert.equal(record.digest, digestOf(value))
  assert.ok(!JSON.stringify(record).includes(value))
})

test('a new token works at once, and says so', async t => {
  const { ask } = await startApi(t)
  const body = bodyOf(['AI Gateway Run'], { not_before: '2026-01-01T00:00:00Z' })
  const { id, value } = (await ask('POST', '/tokens', { body })).json.result
  const { json } = await ask('GET', '/tokens/verify', { token: value })
  assert.deepEqual(json.result, { id, status: 'active', not_before: '2026-01-01T00:00:00Z' })
})

test('nobody gives what their own token does not allow: not new, not by update, not by roll', async t => {
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

test('a permission that a policy of the caller denies can not be given', async t => {
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

test('an update takes the place of all but the state, which only a word changes', async t => {
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

test('what was got can be put back as it is', async t => {
  const { ask } = await startApi(t)
  const condition = { request_ip: { in: ['192.0.2.0/24'], not_in: ['192.0.2.1'] } }
  const { value, ...made } = (
    await ask('POST', '/tokens', { body: bodyOf(['AI Gateway Run'], { condition }) })
  ).json.result
  assert.deepEqual(made.condition, condition)
  const { status, json } = await ask('PUT', `/tokens/${made.id}`, { body: made })
  assert.equal(status, 200, JSON.stringify(json))
  assert.deepEqual({ ...json.result, policies: null }, { ...made, policies: null })
})

test('of many updates at once one stands, whole', async t => {
  const { ask, keepToken } = await startApi(t)
  const { token } = await keepToken(['AI Gateway Run'])
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

test('tokens are listed by page, expired ones only when they are asked for, turned round if wanted', async t => {
  const { ask, keepToken, clock, owner } = await startApi(t)
  for (let i = 1; i <= 5; i++)
    await keepToken([], { name: `t${i}`, issuedOn: i, expiresOn: i === 3 ? clock.now() : null })
  const names = async (query: string) => {
    const { json } = await ask('GET', `/tokens${query}`)
    return [json.result.map(({ name }: { name: string }) => name), json.result_info]
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
    ['colour=red', 'colour is not a query parameter that is known here'],
  ] as const) {
    const { status, json } = await ask('GET', `/tokens?${query}`)
    assert.deepEqual([status, json.errors.map((error: Error) => error.message)], [400, [message]])
  }
})

test('permission groups are listed with what they cover, by name and scope where asked', async t => {
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

test('1,000 random bodies are never a 5xx, and what is kept keeps the rules', async t => {
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
      name: fc.oneof(fc.string({ unit: 'binary' }), junk),
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
    { numRuns: 1_000 },
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
