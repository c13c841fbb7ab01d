import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AiMetrics } from '../../../src/metrics/counters/ai-metrics.ts'
import { PersonalTokens } from '../../../src/oauth/grants/personal-tokens.ts'
import { formToken } from '../../../src/pages/forms/csrf.ts'
import { TokenVerifier } from '../../../src/tokens/verify.ts'
import { until } from '../../help/until.ts'
import type { ShownPage } from '../../sign-in/site.ts'
import { openDashboard, type RoleName } from '../site.ts'
import { openWithEdge } from '../gateways/open-entrance.ts'

const valueIn = ({ body }: ShownPage) => /data-copy>(svct_[^<]*)</.exec(body)![1]!

async function open(t: Parameters<typeof openDashboard>[0], role: RoleName = 'AI Gateway Admin') {
  const site = await openDashboard(t)
  const person = await site.addPerson(role, { email: 'ada@example.com' })
  const visitor = await site.signIn(person)
  const page = `${site.base}/your-tokens`
  const verifier = new TokenVerifier({
    ...{ store: site.kept, grace: 1_000, metrics: new AiMetrics(), clock: site.clock },
    people: new PersonalTokens(site.kept),
  })
  const create = async (fields: Readonly<Record<string, string>> = { name: 'editor' }) =>
    (await visitor.get(`${page}/new`)).submit(`${page}/new`, fields)
  const verify = async (value: string) => {
    const token = await verifier.verify(value, null, 'ai')
    return typeof token === 'string' ? token : token.policies.length > 0
  }
  return { ...site, person, own: visitor, page, create, verify }
}

test('a member makes a token, uses it, and revokes it', async t => {
  const { own, page, create, verify, kept, account, person } = await open(t)
  assert.match((await own.get(page)).text, /You have no tokens here yet/)
  const made = await create({ name: 'editor', expires_on: '2030-01-31' })
  assert.match(made.text, /Save the value now\. It is shown only now\./)
  const value = valueIn(made)
  assert.equal(await verify(value), true)
  const list = await own.get(page)
  assert.match(list.text, /editor active never 31 Jan 2030, 23:59 UTC/)
  assert.doesNotMatch(list.body, /svct_/)
  const id = /your-tokens\/([0-9a-f]{32})\/revoke/.exec(list.body)![1]!
  const { entries } = {
    entries: (await kept.audit.list(account, { filters: [], descending: true, offset: 0, limit: 5 } as never))
      .items,
  }
  const entry = entries.find(({ resource }) => resource === id)!
  assert.deepEqual(
    [entry.action, entry.resourceName, entry.app?.user, entry.app?.client],
    ['create', 'editor', person.id, 'dashboard'],
  )
  const revoked = await list.submit(`${page}/${id}/revoke`)
  assert.match((await revoked.follow()).text, /Your token was revoked/)
  await until(async () => (await verify(value)) === 'unknown')
})

test('of 50 tokens one is revoked before the next is made', async t => {
  const { own, page, create, kept, account } = await open(t)
  await create()
  const { items } = await kept.tokens.list(account, { offset: 0, limit: 100 })
  const made = items.find(({ name }) => name === 'editor')!
  for (let i = 1; i < 50; i++) {
    const id = i.toString(16).padStart(32, '0')
    await kept.tokens.insert({ ...made, id, digest: id.repeat(2) })
  }
  const refused = await create({ name: 'one more' })
  assert.equal(refused.status, 409)
  assert.match(refused.text, /You already have 50 tokens in this account: revoke one first/)
  const list = await own.get(page)
  await list.submit(`${page}/${/your-tokens\/([0-9a-f]{32})\/revoke/.exec(list.body)![1]}/revoke`)
  assert.match((await create({ name: 'one more' })).text, /Save the value now/)
})

test('mistakes of a token are shown in the form, and the input stays', async t => {
  const { create, clock } = await open(t)
  const refused = await create({
    name: '',
    expires_on: new Date(clock.now() - 9e8).toISOString().slice(0, 10),
  })
  assert.equal(refused.status, 422)
  assert.match(refused.body, /id="name-fault"/)
})

test('administrators see whose it is, and end it, but never get its value', async t => {
  const { create, get, base, ask, verify } = await open(t)
  const value = valueIn(await create())
  const list = await get(`${base}/tokens`)
  assert.match(list.text, /editor of ada@example\.com/)
  const [token] = (await ask('GET', '/tokens')).json.result.filter(
    ({ name }: { name: string }) => name === 'editor',
  )
  assert.equal(token.person.email, 'ada@example.com')
  const one = await get(`${base}/tokens/${token.id}`)
  assert.match(one.text, /Belongs to ada@example\.com/)
  assert.doesNotMatch(one.body, /\/roll"|\/edit"/)
  const rolled = await ask('PUT', `/tokens/${token.id}/value`)
  assert.equal(rolled.status, 409)
  // What an administrator changes leaves it what it is.
  const all = {
    effect: 'allow',
    permission_groups: [{ name: 'Members Write' }],
    resources: token.policies[0].resources,
  }
  const changed = await ask('PUT', `/tokens/${token.id}`, { body: { ...token, policies: [all] } })
  assert.deepEqual([changed.status, changed.json.result.person.email], [200, 'ada@example.com'])
  assert.equal((await ask('DELETE', `/tokens/${token.id}`)).status, 200)
  await until(async () => (await verify(value)) === 'unknown')
})

test('a member who is removed takes the tokens along', async t => {
  const { create, ask, kept, account, person, verify } = await open(t)
  const value = valueIn(await create())
  assert.equal(await verify(value), true)
  const member = (await kept.members.find(account, person.id))!.record
  assert.equal((await ask('DELETE', `/members/${member.id}`)).status, 200)
  await until(async () => (await verify(value)) === 'unknown')
  const { json } = await ask('GET', '/tokens')
  assert.ok(!json.result.some(({ name }: { name: string }) => name === 'editor'), 'deleted, not only dead')
})

test('a user without permission to run models cannot create a token, and users see only their own', async t => {
  const { create, get, base, addPerson, signIn, page, own, visitor } = await open(t)
  await create()
  const id = /your-tokens\/([0-9a-f]{32})\/revoke/.exec((await own.get(page)).body)![1]!
  const reader = await signIn(await addPerson('Administrator Read Only'))
  assert.equal((await reader.get(`${page}/new`)).status, 404)
  assert.match((await get(page)).text, /You have no tokens here yet/)
  const theirs = (await get(`${page}/new`)).submit(`${page}/new`, { name: 'mine' })
  assert.equal((await theirs).status, 200)
  const list = await get(page)
  const [, mine] = /your-tokens\/([0-9a-f]{32})\/revoke/.exec(list.body)!
  assert.notEqual(mine, id)
  assert.doesNotMatch(list.text, /editor/)
  assert.match((await get(`${base}/tokens`)).text, /editor of ada/)
  // With the proof of a form of their own, but the id of another's token.
  const token = formToken(visitor.cookies.get('gatehouse')!, `${page}/${id}/revoke`)
  assert.equal((await visitor.post(`${page}/${id}/revoke`, { form_token: token })).status, 404)
  assert.match((await own.get(page)).text, /editor/)
})

test('the API takes nothing but one permission, in an account of the user', async t => {
  const { origin, ask, owner } = await open(t)
  const url = `${origin}/client/v4/user/tokens`
  const headers = { authorization: `Bearer ${owner.value}`, 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: '{}' })
  assert.equal(response.status, 403, 'an API token is no person')
  assert.equal((await ask('GET', '/client/v4/user/tokens')).status, 403)
})

test('the page of a new token shows a call to try it with, without its value', async t => {
  const { base, visitor } = await openWithEdge(t)
  const page = `${base}/your-tokens/new`
  const made = await (await visitor.get(page)).submit(page, { name: 'editor' })
  assert.match(made.text, /Try it.*Authorization: Bearer \$TOKEN/)
  assert.equal(made.body.split('svct_').length, 2)
})

test('calls by a token of a person are theirs in the logs', async t => {
  const { base, visitor, account, port, get, user, kept } = await openWithEdge(t)
  const page = `${base}/your-tokens/new`
  const value = valueIn(await (await visitor.get(page)).submit(page, { name: 'editor' }))
  const call = (path: string) =>
    fetch(`http://127.0.0.1:${port}/client/v4/accounts/${account}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${value}`, 'content-type': 'application/json' },
      body: '{"model":"openai/gpt-4o-mini","messages":[]}',
    })
  assert.equal((await call('/ai/v1/chat/completions')).status, 200)
  const everything = { filters: [], orderBy: 'created_at', descending: true, offset: 0, limit: 5 } as const
  const logged = async () => (await kept.logs.list(account, 'default', everything)).items
  await until(async () => (await logged()).length === 1)
  const [entry] = await logged()
  assert.deepEqual(
    [entry!.tokenName, entry!.app?.user, entry!.app?.email, entry!.app?.client],
    ['editor', user.id, user.email, 'personal_token'],
  )
  const { text } = await get(`${base}/gateways/default/logs/${entry!.id}`)
  assert.match(text, new RegExp(`Person ${user.email} Token editor`))
})
