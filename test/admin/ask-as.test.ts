import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Question } from '../../src/admin/server.ts'
import { PersonTokens } from '../../src/people/sign-in/person-token.ts'
import { Sessions } from '../../src/people/sessions/sessions.ts'
import { roles } from '../../src/permissions/roles.ts'
import { member } from '../store/contract-specimens.ts'
import { account } from '../tokens/token-with.ts'
import { userWith } from '../people/user-with.ts'
import { startApi } from './api.ts'

const sender = {
  address: '192.0.2.7',
  peer: '127.0.0.1',
  isDirect: true,
  isVouched: false,
  base: null,
  ray: '0123456789abcdef',
}

async function start(t: Parameters<typeof startApi>[0], role: string) {
  const api = await startApi(t)
  const { kept: store, clock, server } = api
  const user = userWith()
  await store.users.insert(user)
  const id = roles.find(({ name }) => name.startsWith(role))!.id
  await store.members.insert(
    member({ account, id: '1'.repeat(32), user: user.id, status: 'accepted', roles: [id], isSuper: false }),
  )
  const proof = { method: 'password', secondFactor: false, at: clock.now() } as const
  const visit = { address: '192.0.2.7', userAgent: null, ray: '0' }
  const { session, value } = await new Sessions(store, clock).begin(user, proof, visit)
  const { token } = await new PersonTokens(store, clock).of({ user, session })
  const askAs = async (question: Pick<Question, 'method' | 'target'> & Partial<Question>) => {
    const { status, body, headers } = await server.askAs(token, { sender, ...question })
    return { status, headers, json: JSON.parse(body) }
  }
  return { ...api, user, askAs, session: value }
}

const tokens = `/client/v4/accounts/${account}/tokens`

test('code asks the API as a person, by its rules and with its audit', async t => {
  const { askAs, user, ask } = await start(t, 'Administrator')
  assert.equal((await askAs({ method: 'GET', target: `${tokens}?direction=desc` })).json.result.length, 1)
  assert.equal((await askAs({ method: 'GET', target: `${tokens}?order=x` })).status, 400)
  assert.equal((await askAs({ method: 'POST', target: tokens, body: {} })).status, 400)
  assert.equal((await askAs({ method: 'POST', target: tokens })).status, 415)
  const policy = {
    effect: 'allow',
    permission_groups: [{ name: 'AI Gateway Run' }],
    resources: { [`svc.api.account.${account}`]: '*' },
  }
  const made = await askAs({ method: 'POST', target: tokens, body: { name: 'a', policies: [policy] } })
  assert.equal(made.status, 200)
  const [entry] = (await ask('GET', '/audit_logs')).json.result
  assert.deepEqual(
    [entry.actor, entry.interface, entry.resource.id, entry.metadata.ray],
    [
      { id: user.id, email: user.email, email_verified: false, type: 'user', ip: '192.0.2.7' },
      'UI',
      made.json.result.id,
      sender.ray,
    ],
  )
  const beyond = { ...policy, permission_groups: [{ name: 'Members Write' }] }
  const refused = await askAs({ method: 'POST', target: tokens, body: { name: 'b', policies: [beyond] } })
  assert.deepEqual(
    [refused.status, refused.json.errors[0].source.pointer],
    [403, '/policies/0/permission_groups/0'],
  )
})

test('a person asks for what their roles include, of themselves, and as often as a token may', async t => {
  const { askAs, user, limitWrites } = await start(t, 'AI Gateway Admin')
  assert.equal((await askAs({ method: 'GET', target: tokens })).status, 403)
  assert.equal((await askAs({ method: 'GET', target: '/client/v4/user' })).json.result.id, user.id)
  assert.equal((await askAs({ method: 'GET', target: '/client/v4/memberships' })).json.result.length, 1)
  limitWrites(1)
  const target = `/client/v4/accounts/${account}/ai-gateway/gateways`
  assert.equal((await askAs({ method: 'POST', target, body: {} })).status, 400)
  const limited = await askAs({ method: 'POST', target, body: {} })
  assert.deepEqual([limited.status, Number(limited.headers['retry-after']) > 0], [429, true])
})

test('no cookie and no field of a request makes its sender somebody', async t => {
  const { origin, session, user } = await start(t, 'Administrator')
  for (const headers of [
    { cookie: `gatehouse=${session}` },
    { authorization: `Bearer ${session}` },
    { caller: user.id },
    { 'x-caller': user.id },
  ]) {
    const { status } = await fetch(origin + tokens, { headers })
    assert.equal(status, 401, Object.keys(headers).join())
  }
})
