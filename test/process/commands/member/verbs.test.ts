// The verbs of `gatehouse member` against a real management API, as a person and a script use them.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startApi } from '../../../admin/api.ts'
import { keepMember, role } from '../../../admin/people/people.ts'
import { quickGatehouse, type Outcome } from '../../../help/command.ts'
import { account } from '../../../tokens/token-with.ts'

async function start(t: TestContext) {
  const api = await startApi(t)
  const env = { GATEHOUSE_ACCOUNT: account, GATEHOUSE_TOKEN: api.owner.value }
  const member = (...args: readonly string[]): Promise<Outcome> =>
    quickGatehouse(['member', ...args, '--url', api.origin], env)
  const rolesOf = async (email: string) => {
    const user = await api.kept.users.findByEmail(email)
    return (await api.kept.members.find(account, user!.record.id))?.record.roles ?? null
  }
  return { ...api, member, rolesOf }
}

test('invite takes roles by name and by id', async t => {
  const { member, rolesOf } = await start(t)
  const first = await member('invite', 'Ada@example.com', '--role', 'ai gateway admin', '--role', role.reader)
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stderr, /^Invited ada@example\.com\. Hand over this link, which is shown only once:\n$/)
  assert.deepEqual(await rolesOf('ada@example.com'), [role.gateways, role.reader])
  const second = await member('invite', 'b@example.com', '--role', 'Super Administrator', '--json')
  assert.equal(JSON.parse(second.stdout).email, 'b@example.com')
  assert.deepEqual(await rolesOf('b@example.com'), [role.super])
})

test('invite says what is wrong', async t => {
  const { member } = await start(t)
  const told = async (...args: string[]) => {
    const { code, stderr, stdout } = await member('invite', ...args)
    assert.equal(stdout, '')
    return [code, stderr]
  }
  assert.deepEqual(await told('a@example.com'), [
    2,
    'gatehouse: an invitation needs --role; gatehouse member roles lists them\n',
  ])
  const [code, unknown] = await told('a@example.com', '--role', 'King')
  assert.equal(code, 2)
  assert.match(String(unknown), /^gatehouse: no role is named King; the roles are Super Administrator/)
  assert.deepEqual(await told('a@', '--role', 'Administrator'), [
    1,
    'gatehouse: email must be an e-mail address such as ada@example.com (10001 at /email)\n',
  ])
})

test('list shows everybody, or those of a status', async t => {
  const { member, kept } = await start(t)
  const { member: one } = await keepMember(kept, [role.super], { ofUser: { email: 'a@example.com' } })
  await keepMember(kept, [role.reader], { status: 'pending', ofUser: { email: 'b@example.com' } })
  const ofGroup = { groupRoles: [role.reader], ofUser: { email: 'c@example.com' } }
  await keepMember(kept, [role.gateways, role.reader], ofGroup)
  const { stdout } = await member('list')
  assert.match(stdout, /^MEMBER ID +STATUS +EMAIL +ROLES\n/)
  assert.match(
    stdout,
    new RegExp(`^${one.id}  accepted  a@example\\.com  Super Administrator - All Privileges$`, 'm'),
  )
  assert.match(stdout, /c@example\.com +AI Gateway Admin, Administrator Read Only \(group\)\n/)
  const pending = JSON.parse((await member('list', '--status', 'pending', '--json')).stdout)
  assert.deepEqual(
    pending.map(({ email }: { email: string }) => email),
    ['b@example.com'],
  )
})

test('roles are listed with what they permit', async t => {
  const { member } = await start(t)
  const { stdout } = await member('roles')
  assert.match(stdout, /^ROLE ID +NAME +DESCRIPTION\n/)
  assert.match(stdout, new RegExp(`^${role.reader}  Administrator Read Only `, 'm'))
})

test('update and remove find a member by address or id', async t => {
  const { member, kept, rolesOf } = await start(t)
  await keepMember(kept, [role.super])
  const ada = await keepMember(kept, [role.reader], { ofUser: { email: 'ada@example.com' } })
  const updated = await member('update', 'Ada@example.com', '--role', 'OAuth Client Write')
  assert.deepEqual([updated.code, updated.stderr], [0, 'ada@example.com now has OAuth Client Write.\n'])
  assert.deepEqual(await rolesOf('ada@example.com'), [role.clients])

  const unsure = await member('remove', ada.member.id)
  assert.equal(unsure.code, 2)
  assert.match(unsure.stderr, /removing a member ends what apps may do for them in the account; say --yes/)
  const removed = await member('remove', ada.member.id, '--yes')
  assert.deepEqual([removed.code, removed.stderr], [0, `Removed the member ${ada.member.id}.\n`])
  assert.equal(await rolesOf('ada@example.com'), null)

  const gone = await member('remove', 'ada@example.com', '--yes')
  assert.deepEqual([gone.code, gone.stderr], [1, 'gatehouse: no member has the address ada@example.com\n'])
  const unnamed = await member('update', 'ada', '--role', 'Administrator')
  assert.match(unnamed.stderr, /a member is named by an e-mail address, or by an id/)
})

test('the last super administrator stays', async t => {
  const { member, kept } = await start(t)
  await keepMember(kept, [role.super], { ofUser: { email: 'ada@example.com' } })
  for (const args of [
    ['remove', 'ada@example.com', '--yes'],
    ['update', 'ada@example.com', '--role', 'Administrator'],
  ]) {
    const { code, stderr } = await member(...args)
    assert.equal(code, 1)
    assert.match(stderr, /^gatehouse: The account must keep a super administrator: .*\(10415\)\n$/)
  }
})
