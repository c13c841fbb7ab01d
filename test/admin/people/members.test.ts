import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOfValue } from '../../../src/people/records/secret-value.ts'
import { everybody } from '../../../src/store/records/people.ts'
import { passkey } from '../../store/contract-specimens.ts'
import { account } from '../../tokens/token-with.ts'
import { type Reply, startApi } from '../api.ts'
import { keepMember, role } from './people.ts'
import { meet } from '../../help/meet.ts'

const ada = { email: 'Ada@Example.com', roles: [role.gateways] }

const pointersOf = ({ json }: Reply) =>
  json.errors.map(({ source }: { source?: { pointer: string } }) => source?.pointer)

const putting = (...roles: string[]) => ({ body: { roles: roles.map(id => ({ id })) } })

test('a person is invited, and is pending', async t => {
  const { ask, kept, clock } = await startApi(t)
  const { status, json, headers } = await ask('POST', '/members', { body: ada })
  assert.equal(status, 200)
  const { id, user, invitation_url, ...rest } = json.result
  assert.match(invitation_url, /^https:\/\/id\.example\/auth\/invitation\?token=[\w-]{43}$/)
  const links = await kept.credentials.list({ user: user.id }, 'invitation', 2)
  const value = new URL(invitation_url).searchParams.get('token')!
  assert.deepEqual(
    links.map(({ digest, data }) => [digest, data]),
    [[digestOfValue(value), { purpose: 'invitation', account, member: id, recovers: false }]],
  )
  assert.equal(rest.email, 'ada@example.com')
  assert.equal(rest.status, 'pending')
  assert.deepEqual(
    rest.roles.map(({ name }: { name: string }) => name),
    ['AI Gateway Admin'],
  )
  const made = await kept.users.get(everybody, user.id)
  assert.equal(made?.record.createdAt, clock.now())
  const shown = await ask('GET', `/members/${id}`)
  assert.deepEqual(shown.json.result, { id, user, ...rest })
  assert.equal(shown.headers.get('etag'), headers.get('etag'))
})

test('a role is of a group until it is taken away, and given by hand after that', async t => {
  const { ask, kept } = await startApi(t)
  const ofGroup = { roles: [role.reader, role.gateways], groupRoles: [role.gateways] }
  const { user, member } = await keepMember(kept, [role.reader])
  const { version } = (await kept.members.get(account, member.id))!
  await kept.members.replace({ ...member, ...ofGroup }, version)
  const stored = async () => (await kept.members.find(account, user.id))!.record
  for (const [given, groups] of [
    [[role.reader, role.gateways, role.clients], [role.gateways]],
    [[role.reader, role.clients], []],
    [[role.reader, role.gateways], []],
  ] as const) {
    assert.equal((await ask('PUT', `/members/${member.id}`, putting(...given))).status, 200)
    const { roles, groupRoles } = await stored()
    assert.deepEqual([roles, groupRoles], [given, groups])
  }
})

test('an invitation does not tell whether the person is known', async t => {
  const { ask, kept } = await startApi(t)
  const totp = { sealed: 'x', lastStep: 0, recoveryCodes: [], confirmedAt: 1 }
  const passkeys = { keys: [passkey()], challengedAt: 0 }
  const ofUser = { totp, emailVerifiedAt: 1, passkeys }
  const known = await keepMember(kept, [role.reader], { account: '2'.repeat(32), ofUser })
  const viewOf = async (email: string) => {
    const { result } = (await ask('POST', '/members', { body: { email, roles: [role.reader] } })).json
    assert.equal(result.email_verified, false)
    const { id, email: _, ...user } = result.user
    return user
  }
  const names = { first_name: null, last_name: null }
  const nobody = {
    ...{ email_verified: false, ...names, two_factor_authentication_enabled: false },
    passkeys: [],
  }
  assert.deepEqual(await viewOf(known.user.email), nobody)
  assert.deepEqual(await viewOf('unknown@example.com'), nobody)

  const { record, version } = (await kept.members.find(account, known.user.id))!
  await kept.members.replace({ ...record, status: 'accepted' }, version)
  const accepted = (await ask('GET', `/members/${record.id}`)).json.result.user
  assert.deepEqual([accepted.first_name, accepted.two_factor_authentication_enabled], ['Ada', true])
})

test('passkeys of members are shown by name and times alone', async t => {
  const { ask, kept } = await startApi(t)
  const keys = [
    passkey({ name: 'Phone', createdAt: 1_000, usedAt: 2_000 }),
    passkey({ name: 'Key', usedAt: null }),
  ]
  const ofUser = { passkeys: { keys, challengedAt: 0 } }
  const { member } = await keepMember(kept, [role.reader], { ofUser })
  const { result } = (await ask('GET', `/members/${member.id}`)).json
  assert.deepEqual(result.user.passkeys, [
    { name: 'Phone', created_at: '1970-01-01T00:00:01.000Z', last_used_at: '1970-01-01T00:00:02.000Z' },
    { name: 'Key', created_at: new Date(keys[1]!.createdAt).toISOString(), last_used_at: null },
  ])
})

test('roles that a group gave are told apart, and stay so until they are taken away', async t => {
  const { ask, kept } = await startApi(t)
  const groupRoles = [role.reader, role.gateways]
  const { member } = await keepMember(kept, [role.clients, role.reader, role.gateways], { groupRoles })
  const path = `/members/${member.id}`
  const { result: shown } = (await ask('GET', path)).json
  assert.deepEqual(shown.group_roles, groupRoles)
  assert.equal((await ask('GET', '/members?per_page=50')).json.result.at(-1).group_roles.length, 2)
  const put = async (...ids: string[]) =>
    (await ask('PUT', path, { body: { ...shown, roles: ids.map(id => ({ id })) } })).json.result.group_roles
  assert.deepEqual(await put(role.clients, role.reader), [role.reader])
  assert.deepEqual(await put(role.clients), [])
  assert.deepEqual(await put(role.clients, role.reader), [], 'given by hand now')
})

test('members are shown with whether their address is verified', async t => {
  const { ask, kept } = await startApi(t)
  const identity = { issuer: 'https://id.example', subject: '1' }
  for (const [isVerified, ofUser] of [
    [false, {}],
    [false, { emailVerifiedAt: null, identity }],
    [true, { emailVerifiedAt: 1, identity: { ...identity, subject: '2' } }],
    [true, { identity: { ...identity, subject: '3' } }],
  ] as const) {
    const { member, user } = await keepMember(kept, [role.reader], { ofUser })
    const path = `/members/${member.id}`
    const listed = (await ask('GET', '/members?per_page=50')).json.result
    const found = listed.find(({ id }: { id: string }) => id === member.id)
    const shown = (await ask('GET', path)).json.result
    const sentBack = { ...shown, roles: [{ id: role.administrator }] }
    const changed = (await ask('PUT', path, { body: sentBack })).json.result
    for (const one of [found, shown, changed]) {
      assert.deepEqual([one.email, one.email_verified], [user.email, isVerified])
      assert.deepEqual([one.user.email, one.user.email_verified], [user.email, isVerified])
    }
  }
})

test('inviting a member again is refused, whatever the case of the address', async t => {
  const { ask } = await startApi(t)
  await ask('POST', '/members', { body: ada })
  const again = await ask('POST', '/members', { body: { ...ada, email: 'ADA@example.com' } })
  assert.deepEqual([again.status, again.json.errors[0].code, pointersOf(again)], [409, 10416, ['/email']])
})

test('of simultaneous invitations of one address one is created', async t => {
  const { ask, kept } = await startApi(t)
  meet(t, kept.users, 'findByEmail', 10)
  const replies = await Promise.all(Array.from({ length: 10 }, () => ask('POST', '/members', { body: ada })))
  assert.deepEqual(replies.map(({ status }) => status).sort(), [200, ...Array(9).fill(409)])
  assert.equal((await ask('GET', '/members')).json.result_info.total_count, 1)
})

test('the same invitation with an Idempotency-Key gives the same response, link included', async t => {
  const { ask } = await startApi(t)
  const request = { body: ada, headers: { 'idempotency-key': 'ada' } }
  const first = await ask('POST', '/members', request)
  const again = await ask('POST', '/members', request)
  assert.deepEqual(again.json, first.json)
  assert.equal(again.headers.get('idempotency-replayed'), 'true')
})

test('without pages invitations are refused, and the API says what to set', async t => {
  const { ask, kept, pages } = await startApi(t)
  const { id } = (await ask('POST', '/members', { body: ada })).json.result
  const { user } = (await kept.members.get(account, id))!.record
  const before = await kept.credentials.list({ user }, 'invitation', 9)
  pages.origin = null
  const grace = { ...ada, email: 'grace@example.com' }
  for (const [path, body] of [['/members', grace], [`/members/${id}/invitation`]] as const) {
    const { status, json } = await ask('POST', path, body && { body })
    assert.deepEqual([status, json.errors[0].code], [409, 10423])
    assert.match(json.errors[0].message, /set oauth\.issuer in the configuration/)
  }
  assert.equal(await kept.users.findByEmail('grace@example.com'), null)
  assert.deepEqual(await kept.credentials.list({ user }, 'invitation', 9), before)
})

test('a link that was lost is made again, and the old one ends', async t => {
  const { ask, kept, keepToken } = await startApi(t)
  const { id, user, invitation_url: first } = (await ask('POST', '/members', { body: ada })).json.result
  const { invitation_url: second } = (await ask('POST', `/members/${id}/invitation`)).json.result
  assert.notEqual(second, first)
  const digests = [first, second].map(url => digestOfValue(new URL(url).searchParams.get('token')!))
  const links = await kept.credentials.list({ user: user.id }, 'invitation', 9)
  assert.deepEqual(
    links.map(({ digest }) => digest),
    digests.slice(1),
  )
  // The link of somebody who is to do more is not for everybody who manages members.
  const { value: token } = await keepToken(['Members Write'])
  assert.equal((await ask('POST', `/members/${id}/invitation`, { token })).status, 403)
  const { record, version } = (await kept.members.get(account, id))!
  await kept.members.replace({ ...record, status: 'accepted' }, version)
  const late = await ask('POST', `/members/${id}/invitation`)
  assert.deepEqual([late.status, late.json.errors[0].code], [409, 10418])
})

test('a refused invitation leaves no link behind', async t => {
  const { ask, kept } = await startApi(t)
  await Promise.all(Array.from({ length: 10 }, () => ask('POST', '/members', { body: ada })))
  const { record } = (await kept.users.findByEmail('ada@example.com'))!
  assert.equal((await kept.credentials.list({ user: record.id }, 'invitation', 20)).length, 1)
})

test('every fault of an invitation is told with its place', async t => {
  const { ask } = await startApi(t)
  const reply = await ask('POST', '/members', {
    body: {
      email: 'ada@',
      roles: [role.reader, role.reader, 'x', 1],
      status: 'accepted',
      policies: [],
    },
  })
  assert.equal(reply.status, 400)
  assert.deepEqual(pointersOf(reply).sort(), [
    '/email',
    '/policies',
    '/roles/1',
    '/roles/2',
    '/roles/3',
    '/status',
  ])
  const missing = await ask('POST', '/members', { body: {} })
  assert.deepEqual(pointersOf(missing), ['/email', '/roles'])
})

test('addresses are those that every mail system takes', async t => {
  const { ask } = await startApi(t)
  const statusOf = async (email: string) =>
    (await ask('POST', '/members', { body: { email, roles: [role.reader] } })).status
  for (const good of ['a@b', "o'hara+news@mail.example.com", `${'a'.repeat(64)}@example.com`])
    assert.equal(await statusOf(good), 200, good)
  for (const bad of [
    '',
    'a',
    '@example.com',
    'a@@b',
    'a b@example.com',
    '"a"@example.com',
    'a.@example.com',
    'a..b@example.com',
    'a@-example.com',
    'a@example..com',
    'a@example.com\n',
    'ä@example.com',
    'a@exämple.com',
    `${'a'.repeat(65)}@example.com`,
    `a@${'b'.repeat(63)}.${'b'.repeat(63)}.${'b'.repeat(63)}.${'b'.repeat(63)}`,
    'a@127.0.0.1<script>',
  ])
    assert.equal(await statusOf(bad), 400, bad)
})

test('no token gives roles beyond what it permits itself', async t => {
  const { ask, keepToken } = await startApi(t)
  const { value: token } = await keepToken(['Members Write', 'AI Gateway Edit', 'AI Gateway Run'])
  const invite = async (email: string, ...roles: string[]) =>
    ask('POST', '/members', { token, body: { email, roles } })
  assert.equal((await invite('one@example.com', role.gateways)).status, 200)
  for (const beyond of [role.super, role.administrator, role.clients, role.reader]) {
    const refused = await invite('two@example.com', role.gateways, beyond)
    assert.deepEqual([refused.status, pointersOf(refused)], [403, ['/roles/1']])
    assert.match(refused.json.errors[0].message, /^Forbidden: your token does not have .*OAuth Clients Read/)
  }
})

test('no token touches a member who may do more', async t => {
  const { ask, kept, keepToken } = await startApi(t)
  await keepMember(kept, [role.super])
  const { member } = await keepMember(kept, [role.gateways, role.clients])
  const { value: token } = await keepToken(['Members Write', 'AI Gateway Edit', 'AI Gateway Run'])
  for (const refused of [
    await ask('PUT', `/members/${member.id}`, { token, ...putting(role.gateways) }),
    await ask('DELETE', `/members/${member.id}`, { token }),
  ]) {
    assert.equal(refused.status, 403)
    assert.match(
      refused.json.errors[0].message,
      /OAuth Clients Read, OAuth Clients Write, so it cannot change or remove/,
    )
  }
})

test('a token that may only read members cannot change them', async t => {
  const { ask, kept, keepToken } = await startApi(t)
  const { member } = await keepMember(kept, [role.reader])
  const { value: token } = await keepToken(['Members Read'])
  assert.equal((await ask('GET', '/members', { token })).status, 200)
  assert.equal((await ask('POST', '/members', { token, body: ada })).status, 403)
  assert.equal((await ask('PUT', `/members/${member.id}`, { token, ...putting(role.reader) })).status, 403)
  assert.equal((await ask('DELETE', `/members/${member.id}`, { token })).status, 403)
})

test('roles are replaced, and what was shown may be sent back', async t => {
  const { ask, kept, clock } = await startApi(t)
  const { member } = await keepMember(kept, [role.reader])
  clock.advance(1_000)
  const { result } = (await ask('GET', `/members/${member.id}`)).json
  const [reader] = result.roles
  const wanted = { ...result, roles: [reader, { id: role.clients }] }
  const changed = await ask('PUT', `/members/${member.id}`, { body: wanted })
  assert.equal(changed.status, 200)
  const { record } = (await kept.members.get(account, member.id))!
  assert.deepEqual([record.roles, record.isSuper], [[role.reader, role.clients], false])
  assert.equal(record.modifiedAt, clock.now())

  const { version } = (await kept.members.get(account, member.id))!
  await ask('PUT', `/members/${member.id}`, { body: wanted })
  assert.equal(
    (await kept.members.get(account, member.id))!.version,
    version,
    'the same again writes nothing',
  )

  const bad = { ...result, id: '0'.repeat(32), status: 'pending', email: 'x@example.com', roles: [{}], x: 1 }
  const refused = await ask('PUT', `/members/${member.id}`, { body: bad })
  assert.deepEqual(pointersOf(refused).sort(), ['/email', '/id', '/roles/0/id', '/status', '/x'])
})

test('a change is only of what its caller has seen', async t => {
  const { ask, kept } = await startApi(t)
  const { member } = await keepMember(kept, [role.reader])
  const etag = (await ask('GET', `/members/${member.id}`)).headers.get('etag')!
  const headers = { 'if-match': etag }
  assert.equal((await ask('PUT', `/members/${member.id}`, { ...putting(role.clients), headers })).status, 200)
  const stale = await ask('PUT', `/members/${member.id}`, { ...putting(role.gateways), headers })
  assert.deepEqual([stale.status, stale.json.errors[0].code], [412, 10420])
  assert.equal((await ask('DELETE', `/members/${member.id}`, { headers })).status, 412)
  assert.equal((await ask('DELETE', `/members/${member.id}`, { headers: { 'if-match': '*' } })).status, 200)
})

test('the last super administrator can neither leave nor be demoted', async t => {
  const { ask, kept } = await startApi(t)
  const [one, other] = [
    await keepMember(kept, [role.super]),
    await keepMember(kept, [role.super, role.reader]),
  ]
  await keepMember(kept, [role.super], { status: 'pending' })
  assert.equal((await ask('PUT', `/members/${one.member.id}`, putting(role.reader))).status, 200)
  for (const refused of [
    await ask('PUT', `/members/${other.member.id}`, putting(role.administrator)),
    await ask('DELETE', `/members/${other.member.id}`),
  ])
    assert.deepEqual([refused.status, refused.json.errors[0].code], [409, 10415])
  assert.equal((await ask('PUT', `/members/${other.member.id}`, putting(role.super))).status, 200)
  assert.equal((await ask('DELETE', `/members/${one.member.id}`)).status, 200)
})

test('a member is removed, and the user stays', async t => {
  const { ask, kept } = await startApi(t)
  const { user, member } = await keepMember(kept, [role.reader])
  assert.deepEqual((await ask('DELETE', `/members/${member.id}`)).json.result, { id: member.id })
  assert.equal((await ask('DELETE', `/members/${member.id}`)).status, 404)
  assert.equal((await ask('GET', `/members/${member.id}`)).status, 404)
  assert.notEqual(await kept.users.get(everybody, user.id), null)
})

interface Shown {
  readonly action: { readonly type: string }
  readonly resource: object
  readonly metadata: { readonly changed: readonly string[] }
}

test('each change leaves an entry in the audit log', async t => {
  const { ask, lines } = await startApi(t)
  const { id } = (await ask('POST', '/members', { body: ada })).json.result
  await ask('PUT', `/members/${id}`, putting(role.reader))
  await ask('DELETE', `/members/${id}`)
  const { result } = (await ask('GET', '/audit_logs?direction=asc')).json
  const resource = { id, type: 'member', name: 'ada@example.com' }
  assert.deepEqual(
    result.map(({ action, resource, metadata }: Shown) => [action.type, resource, metadata.changed]),
    [
      ['invite', resource, ['email', 'roles']],
      ['update', resource, ['roles']],
      ['delete', resource, []],
    ],
  )
  assert.equal(lines.filter(({ resource_kind }) => resource_kind === 'member').length, 3)
})

test('members are listed by page, cursor, status and order', async t => {
  const { ask, kept } = await startApi(t)
  const people = [
    ['c@example.com', 'Cleo', 'accepted'],
    ['a@example.com', 'Bea', 'accepted'],
    ['b@example.com', 'Aaron', 'pending'],
    ['d@example.com', null, 'accepted'],
  ] as const
  for (const [i, [email, firstName, status]] of people.entries())
    await keepMember(kept, [role.reader], { status, createdAt: i, ofUser: { email, firstName } })
  const list = async (query: string) => {
    const { json } = await ask('GET', `/members?${query}`)
    const letters = json.result.map(({ email }: { email: string }) => email[0]).join('')
    return [letters, json.result_info.total_count, json.result_info.cursor ?? null]
  }
  assert.deepEqual(await list(''), ['cabd', 4, null])
  assert.deepEqual(await list('direction=desc'), ['dbac', 4, null])
  assert.deepEqual(await list('status=accepted'), ['cad', 3, null])
  assert.deepEqual(await list('status=rejected'), ['', 0, null])
  assert.deepEqual(await list('order=user.email&direction=desc'), ['dcba', 4, null])
  assert.deepEqual(await list('order=user.email&per_page=3&page=2'), ['d', 4, null])
  // The name of one who has not accepted is nobody's business.
  assert.deepEqual(await list('order=user.first_name'), ['bdac', 4, null])
  assert.deepEqual(await list('order=status&direction=desc'), ['bdac', 4, null])
  assert.deepEqual(await list('search=B%40EXAMPLE'), ['b', 1, null])
  assert.deepEqual(await list('search=example.com&direction=desc&per_page=2'), ['dc', 4, null])
  assert.deepEqual(await list('search=example.com&order=status&status=accepted'), ['cad', 3, null])
  // The name of one who has not accepted is not searched either.
  assert.deepEqual(await list('search=aaron'), ['', 0, null])
  const [letters, , cursor] = await list('per_page=3')
  assert.equal(letters, 'cab')
  assert.deepEqual(await list(`per_page=3&cursor=${cursor}`), ['d', 4, null])
  const refused = await ask('GET', `/members?cursor=${cursor}&order=status`)
  assert.match(refused.json.errors[0].message, /cursor cannot be combined with order/)
  const searched = await ask('GET', `/members?cursor=${cursor}&search=a`)
  assert.match(searched.json.errors[0].message, /cursor cannot be combined with search/)
})

test('members of another account are not there', async t => {
  const { ask, kept } = await startApi(t)
  const { member } = await keepMember(kept, [role.reader], { account: '2'.repeat(32) })
  assert.equal((await ask('GET', `/members/${member.id}`)).status, 404)
  assert.equal((await ask('DELETE', `/members/${member.id}`)).status, 404)
  assert.equal((await ask('PUT', `/members/${member.id}`, putting(role.reader))).status, 404)
})
