import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sessions } from '../../../src/people/sessions.ts'
import { startApi } from '../api.ts'
import { keepMember, role } from './people.ts'

const visit = { address: '192.0.2.1', userAgent: null, ray: '0123456789abcdef' }

test('a member is signed out everywhere by an administrator, which the audit tells', async t => {
  const { ask, kept, clock } = await startApi(t)
  const { user, member } = await keepMember(kept, [role.reader])
  const sessions = new Sessions(kept, clock)
  const proof = { method: 'password', secondFactor: false, at: clock.now() } as const
  const begun = [await sessions.begin(user, proof, visit), await sessions.begin(user, proof, visit)]
  const { status, json } = await ask('DELETE', `/members/${member.id}/sessions`)
  assert.deepEqual([status, json.result], [200, { id: member.id, sessions: 2 }])
  for (const { value } of begun) assert.equal(await sessions.find(value), null)
  const [entry] = (await ask('GET', '/audit_logs')).json.result
  assert.deepEqual([entry.action.type, entry.resource], ['sign_out', { type: 'member', id: member.id }])
})

test('nobody is signed out by an invitation, nor by who could not give their roles', async t => {
  const { ask, kept, keepToken } = await startApi(t)
  const invited = (await ask('POST', '/members', { body: { email: 'x@example.com', roles: [role.reader] } }))
    .json.result
  const refused = await ask('DELETE', `/members/${invited.id}/sessions`)
  assert.deepEqual([refused.status, refused.json.errors[0].code], [409, 10419])
  const { member } = await keepMember(kept, [role.gateways])
  const { value: token } = await keepToken(['Members Write'])
  assert.equal((await ask('DELETE', `/members/${member.id}/sessions`, { token })).status, 403)
  assert.equal((await ask('DELETE', `/members/${'0'.repeat(32)}/sessions`)).status, 404)
})
