import assert from 'node:assert/strict'
import { test } from 'node:test'
import { permissionGroups } from '../../../src/permissions/permission-groups.ts'
import type { Permission } from '../../../src/permissions/permit.ts'
import { isWellFormed } from '../../../src/tokens/token.ts'
import type { ShownPage } from '../../sign-in/site.ts'
import { openDashboard } from '../site.ts'

const idOf = (name: Permission) => permissionGroups.find(group => group.name === name)!.id

/** The field of a permission, ticked. */
const ticked = (...names: readonly Permission[]) =>
  Object.fromEntries(names.map(name => [`permissions.${idOf(name)}`, 'on']))

const valueIn = ({ body }: ShownPage) => /data-copy>(svct_[^<]*)</.exec(body)?.[1]

test('a token is created from the form, and its value is shown once', async t => {
  const { base, submit, get, ask, user } = await openDashboard(t)
  const made = await submit(`${base}/tokens/new`, {
    name: 'deploy <script> on build-3',
    ...ticked('AI Gateway Run', 'AI Gateway Read'),
    expires_on: '2026-02-01',
    'addresses.0': '192.0.2.0/24',
  })
  assert.equal(made.status, 200)
  assert.match(made.text, /Save the value now\. It is shown only now\./)
  const value = valueIn(made)!
  assert.ok(isWellFormed(value))
  assert.equal(made.headers.get('cache-control'), 'no-store')
  const list = await get(`${base}/tokens`)
  assert.match(
    list.text,
    /deploy <script> on build-3 active AI Gateway Read and AI Gateway Run never 1 Feb 2026/,
  )
  assert.ok(!list.body.includes(value))
  const { result } = (await ask('GET', '/tokens')).json
  const { name, condition, expires_on } = result.find(({ name }: { name: string }) => /deploy/.test(name))
  assert.deepEqual(
    [name, condition, expires_on],
    ['deploy <script> on build-3', { request_ip: { in: ['192.0.2.0/24'] } }, '2026-02-01T23:59:59.000Z'],
  )
  const [audit] = (await ask('GET', '/audit_logs')).json.result
  assert.deepEqual(audit.actor, {
    id: user.id,
    email: user.email,
    email_verified: false,
    type: 'user',
    ip: '127.0.0.1',
  })
  assert.equal(audit.interface, 'UI')
  assert.deepEqual(audit.metadata.changed, ['name', 'policies', 'condition', 'expires_on'])
  assert.ok(!('oauth_client_id' in audit.metadata))
})

test('a form that is sent again shows the same token, and makes no second one', async t => {
  const { base, get, ask } = await openDashboard(t)
  const form = await get(`${base}/tokens/new`)
  const fields = { name: 'once', ...ticked('AI Gateway Run') }
  const [first, second] = [
    await form.submit(`${base}/tokens/new`, fields),
    await form.submit(`${base}/tokens/new`, fields),
  ]
  assert.equal(valueIn(second), valueIn(first))
  assert.equal((await ask('GET', '/tokens')).json.result_info.total_count, 2)
  const changed = await form.submit(`${base}/tokens/new`, { ...fields, name: 'twice' })
  assert.equal(changed.status, 422)
  assert.match(changed.text, /This form was sent before, with other values/)
  assert.equal((await changed.submit(`${base}/tokens/new`, { ...fields, name: 'twice' })).status, 200)
})

test('mistakes are shown next to their fields, and the input stays', async t => {
  const { base, submit, ask } = await openDashboard(t)
  const again = await submit(`${base}/tokens/new`, {
    name: ' ',
    expires_on: '2020-01-01',
    'addresses.0': '',
    'addresses.1': '192.0.2.1',
    'addresses.2': 'nowhere"><b>',
  })
  assert.equal(again.status, 422)
  assert.match(again.body, /<title>Error: Create an API token/)
  for (const [id, fault] of [
    ['expires_on', 'Must be in the future.'],
    ['addresses.1', 'Must be an IP address or a network, such as 192.0.2.0/24 or 2001:db8::/32.'],
    ['name', 'Must have 1 to 120 characters.'],
    ['permissions', 'Choose at least one.'],
  ] as const) {
    assert.ok(again.body.includes(`id="${id}-fault">${fault}<`), `${id}: ${again.text}`)
    assert.ok(again.body.includes(`href="#${id}"`), id)
  }
  assert.match(again.body, /id="addresses\.0"[^>]* value="192\.0\.2\.1"/)
  assert.match(again.body, /id="addresses\.1"[^>]* value="nowhere&#34;&#62;&#60;b&#62;"/)
  assert.match(again.body, /value="2020-01-01"/)
  assert.equal((await ask('GET', '/tokens')).json.result_info.total_count, 1)
})

test('another address is one press away, without script', async t => {
  const { base, submit } = await openDashboard(t)
  const more = await submit(`${base}/tokens/new`, {
    name: 'x',
    'addresses.0': '192.0.2.1',
    more: 'addresses',
  })
  assert.equal(more.status, 200)
  assert.match(more.body, /id="addresses\.1"[^>]* autofocus/)
  assert.match(more.body, /value="x"/)
})

test('a token is rolled and revoked, each after a page that says what will happen', async t => {
  const { base, get, submit, ask, keepToken } = await openDashboard(t)
  const { token, value } = await keepToken(['API Tokens Read'], { name: 'old' })
  const page = await get(`${base}/tokens/${token.id}`)
  assert.match(page.text, /old State active Allows API Tokens Read Works from Anywhere/)
  const rolled = await submit(`${base}/tokens/${token.id}/roll`)
  const fresh = valueIn(rolled)!
  assert.equal((await ask('GET', '/tokens/verify', { token: value })).status, 401)
  assert.equal((await ask('GET', '/tokens/verify', { token: fresh })).status, 200)
  assert.match((await get(`${base}/tokens/${token.id}/revoke`)).text, /This cannot be undone/)
  const revoked = await submit(`${base}/tokens/${token.id}/revoke`)
  assert.equal(revoked.status, 303)
  assert.match((await revoked.follow()).text, /The token was revoked/)
  assert.equal((await ask('GET', '/tokens/verify', { token: fresh })).status, 401)
  assert.equal((await get(`${base}/tokens/${token.id}`)).status, 404)
})

test('a user with read permission sees no controls to change tokens, and cannot change them', async t => {
  const { base, get, keepToken, visitor } = await openDashboard(t, 'Administrator Read Only')
  const { token } = await keepToken(['API Tokens Read'], { name: 'old' })
  const list = await get(`${base}/tokens`)
  assert.doesNotMatch(list.text, /Create a token/)
  assert.doesNotMatch((await get(`${base}/tokens/${token.id}`)).text, /Danger|Edit|Disable|Roll|Revoke/)
  for (const step of ['new', 'edit', 'state', 'roll', 'revoke']) {
    const path = step === 'new' ? step : `${token.id}/${step}`
    assert.equal((await get(`${base}/tokens/${path}`)).status, 404, path)
    assert.equal((await visitor.post(`${base}/tokens/${path}`, {})).status, 404, path)
  }
})

test('a token cannot be given permissions that the roles of its creator lack', async t => {
  const { base, get, submit } = await openDashboard(t, 'Administrator')
  const form = await get(`${base}/tokens/new`)
  assert.match(form.body, new RegExp(`id="permissions\\.${idOf('Members Write')}"[^>]* disabled`))
  const refused = await submit(`${base}/tokens/new`, { name: 'more', ...ticked('Members Write') })
  assert.equal(refused.status, 403)
  assert.match(refused.text, /does not have Members Write/)
})

test('an account without tokens is told what they are for, and many have pages', async t => {
  const { base, get, ask, owner, keepToken } = await openDashboard(t)
  await ask('DELETE', `/tokens/${owner.token.id}`)
  assert.match((await get(`${base}/tokens`)).text, /No tokens yet .* Create a token/)
  for (let i = 0; i < 21; i++) await keepToken(['API Tokens Read'], { name: `token ${i}` })
  const first = await get(`${base}/tokens?done=token-revoked`)
  assert.match(first.text, /1 to 20 of 21 Next/)
  assert.match((await get(`${base}/tokens?page=2`)).text, /Previous 21 to 21 of 21/)
  assert.doesNotMatch(first.body, /page=2[^"]*done|done[^"]*page=2/)
})

test('the last use of a token is shown, and warned of where it was lately', async t => {
  const { base, get, keepToken, kept } = await openDashboard(t)
  const { token } = await keepToken(['AI Gateway Run'], { name: 'busy' })
  const { account, id } = token
  const page = `${base}/tokens/${id}`
  assert.match((await get(page)).text, /Last used never/)
  for (const path of ['roll', 'revoke']) assert.doesNotMatch((await get(`${page}/${path}`)).text, /lately/)
  await kept.tokens.noteUses([{ account, id, at: Date.UTC(2026, 2, 4) }])
  assert.match((await get(page)).text, /Last used 4 Mar 2026/)
  assert.match((await get(`${base}/tokens`)).text, /busy active AI Gateway Run 4 Mar 2026/)
  for (const path of ['roll', 'revoke']) assert.doesNotMatch((await get(`${page}/${path}`)).text, /lately/)
  await kept.tokens.noteUses([{ account, id, at: Date.now() - 47 * 3_600_000 }])
  for (const path of ['roll', 'revoke'])
    assert.match(
      (await get(`${page}/${path}`)).text,
      /It was used lately, .*: what still uses it will fail\./,
    )
})

test('a token is edited: what is shown is changed, and nothing else', async t => {
  const { base, get, submit, ask, keepToken } = await openDashboard(t)
  const { token, value } = await keepToken(['API Tokens Read'], {
    name: 'old',
    addressesNotIn: ['203.0.113.0/24'],
    expiresOn: Date.UTC(2099, 0, 2, 3),
  })
  const path = `${base}/tokens/${token.id}`
  const form = await get(`${path}/edit`)
  assert.match(form.body, /value="old".*value="2099-01-02"/s)
  assert.match(form.body, new RegExp(`id="permissions\\.${idOf('API Tokens Read')}"[^>]* checked`))
  const fields = { name: 'new', ...ticked('API Tokens Read', 'AI Gateway Run'), 'addresses.0': '127.0.0.1' }
  const saved = await form.submit(`${path}/edit`, { ...fields, expires_on: '2099-01-02' })
  assert.equal(saved.location, `${path}?done=token-changed`)
  const { name, policies, condition, expires_on } = (await ask('GET', `/tokens/${token.id}`)).json.result
  assert.deepEqual(
    [name, policies[0].permission_groups.map((group: { name: string }) => group.name)],
    ['new', ['API Tokens Read', 'AI Gateway Run']],
  )
  assert.deepEqual(condition, { request_ip: { in: ['127.0.0.1'], not_in: ['203.0.113.0/24'] } })
  assert.equal(expires_on, '2099-01-02T03:00:00.000Z')
  assert.equal((await ask('GET', '/tokens/verify', { token: value })).status, 200)

  // Who loaded it before sees what is there now, and what they typed.
  const late = await form.submit(`${path}/edit`, { ...fields, name: 'late', expires_on: '' })
  assert.equal(late.status, 412)
  assert.match(late.text, /Somebody else changed this .* It is now: new\. .*It is now: 2099-01-02\./)
  assert.match(late.body, /value="late"/)
  const put = await late.submit(`${path}/edit`, { ...fields, name: 'late', expires_on: '' })
  assert.equal(put.status, 303)
  assert.match((await get(path)).text, /late .*Expires never/)

  const bad = {
    name: ' ',
    expires_on: 'x',
    'addresses.0': 'x',
    [`permissions.${idOf('AI Gateway Run')}`]: '',
  }
  const refused = await submit(`${path}/edit`, bad)
  assert.equal(refused.status, 422)
  assert.match(refused.text, /Name: .* Last day: .* Address: /)
  const none = await submit(`${path}/edit`, { name: 'late' })
  assert.equal(none.status, 422)
  assert.match(none.text, /Permissions: Choose at least one\./)
})

test('a token is limited to gateways and models, which its page shows', async t => {
  const { base, get, submit, ask } = await openDashboard(t)
  const limits = { 'gateways.0': 'team-*', 'models.1': 'openai/gpt-4o*', 'models.2': 'fast' }
  const made = await submit(`${base}/tokens/new`, { name: 'limited', ...ticked('AI Gateway Run'), ...limits })
  assert.match(made.text, /Calls only Models openai\/gpt-4o\* and fast, on the gateways team-\*/)
  const find = async () =>
    (await ask('GET', '/tokens')).json.result.find(({ name }: { name: string }) => name === 'limited')
  const token = await find()
  assert.deepEqual([token.gateways, token.models], [['team-*'], ['openai/gpt-4o*', 'fast']])
  const path = `${base}/tokens/${token.id}`
  const form = await get(`${path}/edit`)
  assert.match(form.body, /value="team-\*".*value="openai\/gpt-4o\*".*value="fast"/s)
  const fields = { name: 'limited', ...ticked('AI Gateway Run') }
  const wrong = await form.submit(`${path}/edit`, { ...fields, 'gateways.1': 'Team', 'models.0': 'a b' })
  assert.equal(wrong.status, 422)
  assert.match(wrong.text, /AI gateway: .* Model: /)
  const more = await form.submit(`${path}/edit`, { ...fields, 'models.0': 'fast', more: 'models' })
  assert.match(more.body, /name="models\.1"/)
  const saved = await form.submit(`${path}/edit`, { ...fields, 'gateways.0': '', 'models.0': 'fast' })
  assert.equal(saved.status, 303)
  const changed = await find()
  assert.deepEqual([changed.gateways, changed.models], [undefined, ['fast']])
  assert.match((await get(path)).text, /Calls only Models fast/)
})

test('a token with policies that no form can hold keeps them', async t => {
  const { base, submit, get, ask, account } = await openDashboard(t)
  const resources = { [`svc.api.account.${account}`]: '*' }
  const policies = [
    { effect: 'allow', permission_groups: [{ name: 'API Tokens Write' }], resources },
    { effect: 'deny', permission_groups: [{ name: 'API Tokens Read' }], resources },
  ]
  const { id } = (await ask('POST', '/tokens', { body: { name: 'odd', policies } })).json.result
  const path = `${base}/tokens/${id}`
  assert.match((await get(`${path}/edit`)).text, /API Tokens Write, but never API Tokens Read\. Several/)
  assert.equal((await submit(`${path}/edit`, { name: 'even' })).status, 303)
  const { result } = (await ask('GET', `/tokens/${id}`)).json
  assert.deepEqual(
    [result.name, result.policies.map(({ effect }: { effect: string }) => effect)],
    ['even', ['allow', 'deny']],
  )
})

test('a token is disabled and enabled, each after a page that says what will happen', async t => {
  const { base, get, submit, ask, keepToken } = await openDashboard(t)
  const { token, value } = await keepToken(['API Tokens Read'], { name: 'old' })
  const path = `${base}/tokens/${token.id}`
  const verify = async () => (await ask('GET', '/tokens/verify', { token: value })).status
  const early = await get(`${path}/state`)
  assert.match(early.text, /Disable this token\? .* is refused until it is enabled again/)
  assert.match(
    (await (await submit(`${path}/state`)).follow()).text,
    /The token is disabled\..*State disabled/,
  )
  assert.equal(await verify(), 401)
  assert.equal((await early.submit(`${path}/state`, {})).status, 412)
  assert.match((await get(`${path}/state`)).text, /Enable this token\?/)
  assert.match((await (await submit(`${path}/state`)).follow()).text, /active again\..*State active/)
  assert.equal(await verify(), 200)
})

/** Returns the names of the permissions that are ticked on a page. */
const tickedOn = ({ body }: ShownPage) =>
  Array.from(
    body.matchAll(/<input id="permissions\.(\w+)"[^>]* checked/g),
    ([, id]) => permissionGroups.find(group => group.id === id)!.name,
  )

test('a preset ticks what the person may grant of it, and keeps what was typed', async t => {
  const { base, submit, ask, addPerson, signIn } = await openDashboard(t)
  const picked = await submit(`${base}/tokens/new`, {
    name: 'reports',
    ...ticked('Members Write'),
    expires_on: '2026-02-01',
    preset: 'read',
  })
  assert.equal(picked.status, 200)
  assert.deepEqual(
    tickedOn(picked).toSorted(),
    permissionGroups
      .map(({ name }) => name)
      .filter(name => / Read$/.test(name))
      .toSorted(),
  )
  assert.match(picked.body, /value="reports".*value="2026-02-01"/s)
  assert.equal((await ask('GET', '/tokens')).json.result.length, 1)
  const made = await picked.submit(`${base}/tokens/new`, { name: 'reports', ...ticked(...tickedOn(picked)) })
  assert.match(made.text, /Token created/)
  const { result } = (await ask('GET', '/tokens')).json
  const { policies } = result.find(({ name }: { name: string }) => name === 'reports')
  assert.ok(policies[0].permission_groups.every(({ name }: { name: string }) => / Read$/.test(name)))
  const administrator = await signIn(await addPerson('Administrator'))
  const all = tickedOn(await administrator.get(`${base}/tokens/new?preset=all`))
  assert.deepEqual(
    permissionGroups.map(({ name }) => name).filter(name => !all.includes(name)),
    ['Members Write', 'Account Settings Write'],
  )
  assert.deepEqual(tickedOn(await administrator.get(`${base}/tokens/new?preset=models`)), ['AI Gateway Run'])
  assert.deepEqual(tickedOn(await administrator.get(`${base}/tokens/new?preset=toString`)), [])
})

test('a preset of a token that is edited changes nothing until it is saved', async t => {
  const { base, submit, keepToken, ask } = await openDashboard(t)
  const { token } = await keepToken(['Zones Read'], { name: 'a' })
  const picked = await submit(`${base}/tokens/${token.id}/edit`, { name: 'b', preset: 'models' })
  assert.deepEqual(tickedOn(picked), ['AI Gateway Run'])
  const nameOf = async () => (await ask('GET', `/tokens/${token.id}`)).json.result.name
  assert.equal(await nameOf(), 'a')
  const saved = await picked.submit(`${base}/tokens/${token.id}/edit`, {
    name: 'b',
    ...ticked('AI Gateway Run'),
  })
  assert.equal(saved.status, 303)
  assert.equal(await nameOf(), 'b')
})
