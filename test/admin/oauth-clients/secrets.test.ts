import assert from 'node:assert/strict'
import { test } from 'node:test'
import { secretThatMatches } from '../../../src/oauth/clients/secret.ts'
import { account } from '../../tokens/token-with.ts'
import { startApi } from '../api.ts'
import { bodyOfClient } from './client-bodies.ts'

const path = '/oauth_clients'

async function startWithClient(t: Parameters<typeof startApi>[0], more: object = {}) {
  const api = await startApi(t)
  const { json } = await api.ask('POST', path, { body: bodyOfClient(more) })
  const { client_id: id, client_secret: first } = json.result
  const rotation = `${path}/${id}/rotate_secret`
  const ask = (method: 'POST' | 'DELETE', headers = {}) => api.ask(method, rotation, { headers })
  const refusal = async (method: 'POST' | 'DELETE', headers = {}) => {
    const before = await api.kept.oauthClients.get(account, id)
    const { status, json } = await ask(method, headers)
    assert.deepEqual(await api.kept.oauthClients.get(account, id), before)
    return [status, json.errors[0].code]
  }
  const record = async () => (await api.kept.oauthClients.get(account, id))!.record
  const isGood = async (value: string) => secretThatMatches(await record(), value, api.keys.current) !== null
  return { ...api, id, first, ask, refusal, record, isGood }
}

/** What may be asked of a client with so many secrets: how many it has then, or how it is refused. */
const table = [
  { secrets: 0, post: [400, 10410], remove: [404, 10411] },
  { secrets: 1, post: 2, remove: [404, 10411] },
  { secrets: 2, post: [409, 10409], remove: 1 },
] as const

for (const { secrets, ...moves } of table)
  for (const [name, method] of [
    ['post', 'POST'],
    ['remove', 'DELETE'],
  ] as const)
    test(`${method} of a rotation with ${secrets} secrets`, async t => {
      const more = secrets === 0 ? { token_endpoint_auth_method: 'none' } : {}
      const { ask, refusal, record } = await startWithClient(t, more)
      if (secrets === 2) await ask('POST')
      assert.equal((await record()).secrets.length, secrets)
      const move = moves[name]
      if (typeof move !== 'number') return assert.deepEqual(await refusal(method), move)
      assert.equal((await ask(method)).status, 200)
      assert.equal((await record()).secrets.length, move)
    })

test('both secrets are valid until the older one is deleted', async t => {
  const { ask, first, isGood, id } = await startWithClient(t)
  const { client_secret: second } = (await ask('POST')).json.result
  assert.deepEqual([await isGood(first), await isGood(second), first === second], [true, true, false])
  assert.deepEqual((await ask('DELETE')).json.result, { id })
  assert.deepEqual([await isGood(first), await isGood(second)], [false, true])
})

test('rotations can follow each other, each from the remaining secret', async t => {
  const { ask, first, isGood, record } = await startWithClient(t)
  let last = first
  for (let turn = 0; turn < 3; turn++) {
    const { client_secret: next } = (await ask('POST')).json.result
    await ask('DELETE')
    assert.deepEqual([await isGood(last), await isGood(next)], [false, true])
    last = next
  }
  assert.equal((await record()).revision, 7)
})

test('a rotation returns its value, which neither log nor record contains', async t => {
  const { ask, record, lines } = await startWithClient(t)
  const { json } = await ask('POST')
  assert.deepEqual(Object.keys(json.result), ['client_secret'])
  for (const place of [await record(), lines])
    assert.ok(!JSON.stringify(place).includes(json.result.client_secret))
})

test('both are recorded with the changed members', async t => {
  const { ask, id, lines } = await startWithClient(t)
  await ask('POST')
  await ask('DELETE')
  assert.deepEqual(
    lines.slice(1).map(({ action, resource, changed }) => [action, resource, changed]),
    ['rotate_secret', 'delete_rotated_secret'].map(action => [
      action,
      id,
      ['client_secrets', 'has_rotated_secret'],
    ]),
  )
})

test('both honour If-Match, and an outdated tag changes nothing', async t => {
  const { ask, refusal } = await startWithClient(t)
  const old = { 'if-match': '"1"' }
  assert.equal((await ask('POST', old)).status, 200)
  assert.deepEqual(
    [await refusal('POST', old), await refusal('DELETE', old)],
    [
      [412, 10420],
      [412, 10420],
    ],
  )
  assert.equal((await ask('DELETE', { 'if-match': '"2"' })).status, 200)
})

test('a rotation that loses to a concurrent one reads again, and is refused', async t => {
  const { ask, kept, record } = await startWithClient(t)
  const { oauthClients } = kept
  const replace = oauthClients.replace.bind(oauthClients)
  oauthClients.replace = async (...about) => {
    oauthClients.replace = replace
    assert.equal((await ask('POST')).status, 200)
    return replace(...about)
  }
  const { status, json } = await ask('POST')
  assert.deepEqual([status, json.errors[0].code, (await record()).secrets.length], [409, 10409, 2])
})
