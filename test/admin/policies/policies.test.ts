import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { readPolicy, readSimulation } from '../../../src/admin/policies/body.ts'
import { policySetId } from '../../../src/store/records/policy.ts'
import { auditQuery } from '../../store/contract-specimens.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'

const path = '/ai-gateway/gateways/default/policies'
const limit = { type: 'limit', amount: 10, period: 'daily' }
const each = { name: 'Each user', actor: 'user:{svc.user.id}', resource: '*', action: limit }
const gpts = { name: 'GPT', actor: '*', resource: { model: ['gpt-*'] }, action: { type: 'no-limit' } }

async function start(t: TestContext) {
  const api = await startApi(t)
  const add = async (body: object) => (await api.ask('POST', path, { body })).json.result
  const commit = () => api.ask('POST', `${path}/commit`)
  const list = async (query = '') => (await api.ask('GET', `${path}${query}`)).json.result
  const stored = async () => (await api.kept.policySets.get(`${account}/default`, policySetId))?.record
  const simulate = async (body: object) => (await api.ask('POST', `${path}/simulate`, { body })).json.result
  return { ...api, add, commit, list, stored, simulate }
}

const namesOf = (policies: readonly { readonly name: string }[]) => policies.map(({ name }) => name)

test('a policy is added to the draft, and in effect once it is committed', async t => {
  const { ask, add, commit, list } = await start(t)
  const added = await add(each)
  deepEqual(added, {
    ...{ id: added.id, name: 'Each user', actor: 'user:{svc.user.id}', resource: '*', condition: null },
    action: { ...limit, technique: 'named-interval', time_zone: 'UTC' },
  })
  deepEqual(await list(), [added])
  deepEqual(await list('?state=committed'), [])
  deepEqual((await ask('GET', `${path}/draft`)).json.result, {
    ...{ base_commit_id: null, outdated: false, added: [added.id], changed: [], removed: [] },
  })
  const { json } = await commit()
  match(json.messages[0].message, /calls of this gateway that no policy allows are refused/)
  deepEqual([json.result.active, json.result.policies], [true, [added]])
  deepEqual(await list('?state=committed'), [added])
  equal((await ask('GET', `${path}/draft`)).status, 404)
  await add(gpts)
  deepEqual((await commit()).json.messages, [])
})

test('a policy may be sent back as it is shown, and one is replaced and deleted by its id', async t => {
  const { ask, add, commit, list } = await start(t)
  const { id, ...first } = await add(gpts)
  await commit()
  const one = `${path}/${id}`
  deepEqual((await ask('PUT', one, { body: { id, ...first } })).json.result, { id, ...first })
  const action = { type: 'block', except: true }
  await ask('PUT', one, { body: { ...first, action } })
  deepEqual((await ask('GET', one)).json.result.action, action)
  deepEqual((await ask('GET', `${path}/draft`)).json.result.changed, [id])
  deepEqual((await list('?state=committed'))[0].action, { type: 'no-limit' })
  equal((await ask('DELETE', one)).status, 200)
  deepEqual((await ask('GET', `${path}/draft`)).json.result.removed, [id])
  for (const method of ['GET', 'DELETE'] as const) equal((await ask(method, one)).status, 404)
  equal((await ask('PUT', one, { body: first })).status, 404)
  match((await commit()).json.messages[0].message, /No policies are in effect any more/)
})

test('with If-Match only the draft that was seen is changed, committed or discarded', async t => {
  const { ask, add, list } = await start(t)
  const tagAt = async (place = '') => (await ask('GET', path + place)).headers.get('etag')!
  const empty = await tagAt()
  const { id, ...first } = await add(gpts)
  const seen = await tagAt()
  ok(empty !== seen)
  equal(await tagAt('?state=committed'), empty)
  for (const place of [`/${id}`, '/draft']) equal(await tagAt(place), seen)
  await add(each)
  const stale = { headers: { 'if-match': seen } }
  const current = await tagAt()
  for (const [method, place, body] of [
    ['POST', '', each],
    ['PUT', `/${id}`, { ...first, name: 'Other' }],
    ['DELETE', `/${id}`, undefined],
    ['POST', '/commit', undefined],
    ['DELETE', '/draft', undefined],
  ] as const) {
    const { status, headers, json } = await ask(method, path + place, { body, ...stale })
    deepEqual([status, headers.get('etag'), json.errors[0].code], [412, current, 10420], `${method} ${place}`)
  }
  equal((await list()).length, 2)
  const renamed = await ask('PUT', `${path}/${id}`, {
    body: { ...first, name: 'Other' },
    headers: { 'if-match': current },
  })
  equal(renamed.status, 200)
  const committed = await ask('POST', `${path}/commit`, {
    headers: { 'if-match': renamed.headers.get('etag')! },
  })
  equal(committed.status, 200)
  deepEqual([await tagAt(), await tagAt('?state=committed')], Array(2).fill(committed.headers.get('etag')))
  const commits = (await ask('GET', `${path}/commits`)).json.result
  const rollback = await ask('POST', `${path}/rollback`, { body: { to: commits[0].id }, ...stale })
  equal(rollback.status, 412)
})

test('a fault names the member, the rule and its place', async t => {
  const { ask } = await start(t)
  const faultsOf = async (body: object) => {
    const { status, json } = await ask('POST', path, { body })
    equal(status, 400)
    return json.errors.map(
      ({ message, source }: never) => `${(source as { pointer: string }).pointer} ${message}`,
    )
  }
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ actor: 'ada' }, /^\/actor actor must be \*, or user:/],
    [{ actor: 'user:{svc.app.id}' }, /^\/actor actor must have \{svc\.user\.id\} or \{metadata\.NAME\}/],
    [{ condition: 'user.id == 5' }, /^\/condition condition must be a CEL expression; line 1, column/],
    [{ condition: 'request.path == "/"' }, /^\/condition .*unknown variable: request/],
    [{ resource: 'gpt-*' }, /^\/resource resource must be \*, or an object/],
    [{ resource: { model: 'a', provider: 'b' } }, /^\/resource resource must be/],
    [{ resource: { model: [] } }, /^\/resource\/model resource\.model must be a list of 1 to 50/],
    [{ action: { type: 'allow' } }, /^\/action\/type action\.type must be limit or no-limit or block/],
    [{ action: { type: 'limit', period: 'daily' } }, /^\/action\/amount action\.amount is required/],
    [{ action: { ...limit, amount: 0 } }, /^\/action\/amount action\.amount must be a number of USD above 0/],
    [{ action: { ...limit, period: 'yearly' } }, /^\/action\/period action\.period must be hourly or/],
    [
      { action: { ...limit, period: 'hourly', time_zone: 'UTC' } },
      /^\/action\/time_zone .* period is hourly/,
    ],
    [{ action: { ...limit, time_zone: 'Mars' } }, /^\/action\/time_zone action\.time_zone must be the name/],
    [{ action: { ...limit, except: true } }, /^\/action\/except action\.except must be left out/],
    [{ action: { type: 'block', amount: 5 } }, /^\/action\/amount action\.amount must be left out/],
    [{ budget: 5 }, /^\/budget budget is an unknown member/],
  ]
  for (const [more, expected] of cases) match((await faultsOf({ ...each, ...more }))[0], expected)
})

test('a draft has no two policies of one name, at most 100, and conditions that end in time', async t => {
  const { ask, add } = await start(t)
  const first = await add(each)
  const again = await ask('POST', path, { body: each })
  deepEqual([again.status, again.json.errors[0].source.pointer], [409, '/name'])
  const slow = Array.from({ length: 80 }, (_, i) => `user.id.contains("${i}")`).join(' || ')
  let fault: { readonly code: number; readonly source: { readonly pointer: string } } | null = null
  for (let i = 0; fault === null && i < 20; i++) {
    const { status, json } = await ask('POST', path, { body: { ...each, name: `${i}`, condition: slow } })
    if (status !== 200) fault = json.errors[0]
  }
  deepEqual([fault?.source.pointer, fault?.code], ['/condition', 10001])
  await ask('DELETE', `${path}/draft`)
  for (let i = 0; i < 100; i++) await add({ ...each, name: `${i}` })
  const over = await ask('POST', path, { body: each })
  deepEqual([over.status, over.json.errors[0].code], [409, 10414])
  ok(first.id)
})

test('a draft is not committed over what has come into effect since it began', async t => {
  const { ask, add, commit, list } = await start(t)
  equal(
    (await commit()).json.errors[0].message,
    'There is no draft to commit: add, replace or delete a policy first',
  )
  await add(each)
  const first = (await commit()).json.result
  await add(gpts)
  await commit()
  await add({ ...gpts, name: 'Draft' })
  const back = await ask('POST', `${path}/rollback`, { body: { to: first.id } })
  deepEqual(back.json.result.policies, first.policies)
  deepEqual((await ask('GET', `${path}/draft`)).json.result.outdated, true)
  const { status, json } = await commit()
  deepEqual([status, json.errors[0].code], [409, 10001])
  deepEqual(namesOf(await list('?state=committed')), ['Each user'])
  equal((await ask('DELETE', `${path}/draft`)).status, 200)
  deepEqual(namesOf(await list()), ['Each user'])
  equal((await ask('DELETE', `${path}/draft`)).status, 404)
  equal((await ask('POST', `${path}/rollback`, { body: { to: 'f'.repeat(32) } })).status, 404)
})

test('the last 20 commits are listed, newest first', async t => {
  const { ask, add, commit } = await start(t)
  for (let i = 0; i < 22; i++) {
    await add({ ...each, name: `${i}` })
    await commit()
  }
  const { json } = await ask('GET', `${path}/commits?per_page=3`)
  deepEqual([json.result.length, json.result_info.total_count], [3, 20])
  deepEqual(
    json.result.map(({ active, policies }: { active: boolean; policies: [] }) => [active, policies.length]),
    [
      [true, 22],
      [false, 21],
      [false, 20],
    ],
  )
})

test('a draft that this version does not understand is not committed', async t => {
  const { add, commit, kept, stored } = await start(t)
  await add(each)
  const set = (await stored())!
  const policies = [set.draft!.policies[0]!, { ...set.draft!.policies[0]!, id: 'b', condition: 'user.' }]
  const { version } = (await kept.policySets.get(set.account, set.id))!
  await kept.policySets.replace({ ...set, draft: { base: null, policies } }, version)
  const { status, json } = await commit()
  deepEqual([status, json.errors[0].source.pointer], [400, '/policies/1/condition'])
  match(json.errors[0].message, /^policies\[1\]\.condition must be a CEL expression/)
})

test('a simulation says what decides, and what is spent', async t => {
  const { add, commit, kept, clock, simulate } = await start(t)
  const { id } = await add(each)
  const blocked = await add({
    ...gpts,
    name: 'No GPT-5',
    resource: { model: 'gpt-5*' },
    action: { type: 'block' },
  })
  const ada = { identity: { user: 'u1', email: 'ada@corp.example' }, model: 'openai/gpt-4o' }
  equal((await simulate({ ...ada, state: 'committed' })).decision, 'allow')
  const first = await simulate(ada)
  deepEqual(first, {
    decision: 'allow',
    policy: { id, name: 'Each user' },
    limits: [
      {
        policy: { id, name: 'Each user' },
        ...{ budget_id: first.limits[0].budget_id, identity: 'u1', amount: 10, spent: 0, leased: 0 },
        ...{ remaining: 10, resets_at: '2026-01-02T00:00:00.000Z' },
      },
    ],
    trace: [
      { id, name: 'Each user', applies: true, decided_by: null, unknown: false },
      { id: blocked.id, name: 'No GPT-5', applies: false, decided_by: 'resource', unknown: false },
    ],
  })
  await commit()
  const line = {
    ...{
      bucket: first.limits[0]!.budget_id,
      window: { kind: 'fixed', until: clock.now() + 86_400_000 } as const,
    },
    ...{ limit: 10e9, share: 's', total: 2_500_000_000, confirmed: 0, keep: 0, ifLost: 0, need: 0, want: 0 },
  }
  await kept.budgets.step({ account, sequence: 1, lease: 15_000, lines: [line] })
  const [spent] = (await simulate({ ...ada, state: 'committed' })).limits
  deepEqual([spent.spent, spent.remaining], [2.5, 7.5])
  const refused = await simulate({ ...ada, model: 'gpt-5', provider: 'openai' })
  deepEqual(
    [refused.decision, refused.policy, refused.limits],
    ['block', { id: blocked.id, name: 'No GPT-5' }, []],
  )
  equal((await simulate({ provider: 'openai', model: 'gpt-4o' })).decision, 'no_match')
  equal((await simulate({ ...ada, provider: 'openai', model: null })).decision, 'block')
})

test('every change has an audit entry with who and what, before and after', async t => {
  const { ask, add, commit, kept, owner, list } = await start(t)
  const { id, ...first } = await add(each)
  await ask('PUT', `${path}/${id}`, { body: { ...first, actor: 'team:search' } })
  const { result } = (await commit()).json
  await ask('DELETE', `${path}/${id}`)
  await ask('DELETE', `${path}/draft`)
  const { items } = await kept.audit.list(account, auditQuery({ descending: false }))
  deepEqual(
    items.map(({ action, resourceKind, resource, actor }) => [action, resourceKind, resource, actor]),
    [
      ['create', 'policies', `default/${id}`, owner.token.id],
      ['update', 'policies', `default/${id}`, owner.token.id],
      ['deploy', 'policies', 'default', owner.token.id],
      ['delete', 'policies', `default/${id}`, owner.token.id],
      ['delete', 'policies', 'default', owner.token.id],
    ],
  )
  deepEqual(items[1]!.values, { before: { actor: 'user:{svc.user.id}' }, after: { actor: 'team:search' } })
  deepEqual(items[2]!.values, {
    before: { commit_id: null },
    after: { commit_id: result.id, policies: await list('?state=committed') },
  })
})

test('another gateway has policies of its own, and one that does not exist has none', async t => {
  const { ask, add } = await start(t)
  await add(each)
  await ask('POST', '/ai-gateway/gateways', { body: { id: 'team' } })
  deepEqual((await ask('GET', '/ai-gateway/gateways/team/policies')).json.result, [])
  for (const [method, more] of [
    ['GET', ''],
    ['GET', '/draft'],
    ['POST', '/commit'],
    ['GET', '/commits'],
  ] as const)
    equal((await ask(method, `/ai-gateway/gateways/none/policies${more}`)).status, 404)
  equal((await ask('POST', '/ai-gateway/gateways/none/policies', { body: each })).status, 404)
})

test('concurrent changes of a draft all count', async t => {
  const { add, list } = await start(t)
  await Promise.all(Array.from({ length: 8 }, (_, i) => add({ ...each, name: `${i}` })))
  deepEqual(
    namesOf(await list()).sort(),
    Array.from({ length: 8 }, (_, i) => `${i}`),
  )
})

test('no body makes reading it fail', () => {
  const names = [
    'name',
    'actor',
    'resource',
    'condition',
    'action',
    'type',
    'amount',
    'identity',
    'model',
    'metadata',
  ]
  const text = fc.constantFrom('*', 'user:{svc.user.id}', 'limit', 'block', 'daily', 'a/b', '')
  const { value } = fc.letrec(tie => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.jsonValue(),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 6 }),
    ),
  }))
  fc.assert(
    fc.property(value, body => {
      for (const read of [readPolicy(body, null), readSimulation(body)])
        if (Array.isArray(read)) for (const { message } of read) match(message, /^.+ (?:must|is) /s)
    }),
  )
})
