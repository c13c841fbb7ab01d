import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sessions } from '../../../src/people/sessions/sessions.ts'
import { keeper } from '../../../src/store/records/audit-entry.ts'
import { account as accountWith, auditQuery, member as memberWith } from '../../store/contract-specimens.ts'
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
  assert.deepEqual(
    [entry.action.type, entry.resource],
    ['sign_out', { type: 'member', id: member.id, name: user.email }],
  )
})

test('other accounts of who is signed out learn that, and not by whom', async t => {
  const { ask, kept } = await startApi(t)
  const { user, member } = await keepMember(kept, [role.reader])
  const other = accountWith()
  await kept.accounts.insert(other)
  const own = { account: other.id, user: user.id, status: 'accepted', isSuper: false } as const
  await kept.members.insert(memberWith(own))
  assert.equal((await ask('DELETE', `/members/${member.id}/sessions`)).status, 200)
  const { items } = await kept.audit.list(other.id, auditQuery())
  assert.deepEqual(
    items.map(({ actor, address, action, resource }) => [actor, address, action, resource]),
    [[keeper.id, '', 'sign_out', user.id]],
  )
  assert.equal((await ask('GET', '/audit_logs')).json.result_info.total_count, 1)
})

test('sessions of a member cannot be ended before the invitation is accepted, or by a token that could not grant the roles', async t => {
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
