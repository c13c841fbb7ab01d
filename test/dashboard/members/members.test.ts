import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepMember, role } from '../../admin/people/people.ts'
import { everybody } from '../../../src/store/records/people.ts'
import { oauthGrant as grant, passkey, totp } from '../../store/contract-specimens.ts'
import { openDashboard } from '../site.ts'

const roleField = (id: string) => ({ [`roles.${id}`]: 'on' })

test('a person is invited, and the link is shown once', async t => {
  const { base, submit, get, ask } = await openDashboard(t)
  const invited = await submit(`${base}/members/new`, {
    email: 'Grace@Example.com',
    ...roleField(role.gateways),
  })
  assert.equal(invited.status, 200)
  const link = /data-copy>([^<]*)</.exec(invited.body)![1]!
  assert.match(link, /\/auth\/invitation\?token=[\w-]{43}$/)
  assert.match(invited.text, /For grace@example\.com Roles AI Gateway Admin/)
  const list = await get(`${base}/members`)
  assert.match(list.text, /grace@example\.com AI Gateway Admin invited/)
  assert.ok(!list.body.includes(link))
  assert.equal((await ask('GET', '/members?status=pending')).json.result_info.total_count, 1)
})

test('an invitation with mistakes comes back as it was typed', async t => {
  const { base, submit } = await openDashboard(t)
  const again = await submit(`${base}/members/new`, { email: 'nobody' })
  assert.equal(again.status, 422)
  assert.match(again.body, /id="email-fault">/)
  assert.match(again.body, /id="roles-fault">Choose at least one\.</)
  assert.match(again.body, /value="nobody"/)
})

test('a lost link gives way to another one, and an invitation is withdrawn', async t => {
  const { base, submit, get, ask, visitor } = await openDashboard(t)
  const { result } = (
    await ask('POST', '/members', { body: { email: 'x@example.com', roles: [role.reader] } })
  ).json
  const path = `${base}/members/${result.id}`
  const page = await get(path)
  assert.match(page.text, /x@example\.com .* invited/)
  const another = await page.submit(`${path}/link`, {})
  assert.equal(another.status, 200)
  const link = /data-copy>([^<]*)</.exec(another.body)![1]!
  assert.notEqual(link, result.invitation_url)
  const old = new URL(result.invitation_url)
  assert.match((await visitor.get(old.pathname + old.search)).text, /This link is over/)
  assert.doesNotMatch(page.text, /Sign out everywhere/)
  const gone = await submit(`${path}/remove`)
  assert.match((await gone.follow()).text, /The member was removed/)
  assert.equal((await get(path)).status, 404)
})

test('roles are changed, unless somebody did so meanwhile', async t => {
  const { base, get, ask, kept } = await openDashboard(t)
  const { member } = await keepMember(kept, [role.reader])
  const path = `${base}/members/${member.id}`
  const page = await get(path)
  assert.match(page.body, new RegExp(`id="roles\\.${role.reader}"[^>]* checked`))
  const changed = await page.submit(`${path}/roles`, roleField(role.clients))
  assert.match((await changed.follow()).text, /The roles were changed/)
  const names = async () =>
    (await ask('GET', `/members/${member.id}`)).json.result.roles.map(({ name }: { name: string }) => name)
  assert.deepEqual(await names(), ['OAuth Client Write'])
  const late = await page.submit(`${path}/roles`, roleField(role.gateways))
  assert.equal(late.status, 412)
  assert.match(late.text, /changed since you read it/)
  assert.match(late.body, new RegExp(`id="roles\\.${role.gateways}"[^>]* checked`))
  assert.match(late.text, /Roles OAuth Client Write/)
  await late.submit(`${path}/roles`, roleField(role.gateways))
  assert.deepEqual(await names(), ['AI Gateway Admin'])
})

test('a role of a group says where it is from, and passkeys are listed for those who cannot remove them', async t => {
  const { base, get, kept } = await openDashboard(t)
  const plain = await keepMember(kept, [role.reader])
  const groupRoles = [role.gateways]
  const keys = [passkey({ name: '<Phone>', usedAt: null })]
  const ofUser = { passkeys: { keys, challengedAt: 0 } }
  const { member } = await keepMember(kept, [role.reader, role.gateways], { groupRoles, ofUser })
  const { text, body } = await get(`${base}/members/${member.id}`)
  assert.equal(text.match(/From a group at the OpenID provider/g)?.length, 1)
  assert.match(text, /change gateways and their logs\. From a group/)
  assert.match(text, /Passkeys.*<Phone>.*never.*Only the person can remove one/)
  assert.ok(!body.includes(keys[0]!.id))
  const other = await get(`${base}/members/${plain.member.id}`)
  assert.doesNotMatch(other.text, /From a group|Passkeys/)
})

test('a member is signed out, and removed', async t => {
  const { base, get, submit, addPerson, signIn, ask } = await openDashboard(t)
  const user = await addPerson('AI Gateway Admin', { email: 'grace@example.com' })
  const theirs = await signIn(user)
  assert.equal((await theirs.get('/auth/account')).status, 200)
  const { result } = (await ask('GET', '/members')).json
  const { id } = result.find(({ email }: { email: string }) => email === user.email)
  const out = await submit(`${base}/members/${id}/sign-out`)
  assert.match((await out.follow()).text, /signed out everywhere/)
  assert.equal((await theirs.get('/auth/account')).status, 303)
  assert.match(
    (await get(`${base}/members/${id}/remove`)).text,
    /This account is closed to grace@example\.com/,
  )
  await submit(`${base}/members/${id}/remove`)
  assert.equal((await get(`${base}/members/${id}`)).status, 404)
})

test('the last super administrator stays', async t => {
  const { base, submit, ask } = await openDashboard(t)
  const { result } = (await ask('GET', '/members')).json
  const refused = await submit(`${base}/members/${result[0].id}/remove`)
  assert.equal(refused.status, 409)
  assert.match(refused.text, /must keep a super administrator/)
})

test('two-step sign-in is required of members, by who has turned it on', async t => {
  const { base, submit, get, ask, account, kept, user, signIn } = await openDashboard(t)
  const required = async () =>
    (await ask('GET', `/client/v4/accounts/${account}`)).json.result.settings.enforce_twofactor
  assert.match((await get(`${base}/members`)).text, /sign in with a password alone/)
  const refused = await submit(`${base}/members/two-factor`, { required: 'on' })
  assert.equal(refused.status, 422)
  assert.match(refused.text, /you would be locked out/)
  const { record, version } = (await kept.users.get(everybody, user.id))!
  const turnedOn = { ...record, totp: totp({ confirmedAt: 1 }) }
  await kept.users.replace(turnedOn, version)
  const own = await signIn(turnedOn)
  const path = `${base}/members/two-factor`
  const changed = await (await own.get(path)).submit(path, { required: 'on' })
  assert.match((await changed.follow()).text, /must sign in with two steps/)
  assert.equal(await required(), true)
  await (await own.get(path)).submit(path, {})
  assert.equal(await required(), false)
})

test('apps that are not registered are let in, which leaves the other rule as it is', async t => {
  const { base, kept, account, addPerson, signIn } = await openDashboard(t)
  const own = await signIn(await addPerson('Super Administrator', { totp: totp({ confirmedAt: 1 }) }))
  await kept.accounts.update(account, { enforceTwoFactor: true })
  const send = async (path: string, form = {}) => (await own.get(base + path)).submit(base + path, form)
  const changed = await send('/apps/unregistered', { allowed: 'on' })
  assert.match((await changed.follow()).text, /may let apps act for them here that nobody has registered/)
  const rules = async () => {
    const { enforceTwoFactor = false, allowsDocumentClients = false } = (await kept.accounts.get(account))!
    return [enforceTwoFactor, allowsDocumentClients]
  }
  assert.deepEqual(await rules(), [true, true])
  await send('/members/two-factor')
  assert.deepEqual(await rules(), [false, true])
  await send('/apps/unregistered')
  assert.deepEqual(await rules(), [false, false])
})

test('a page of before does not take back that two-step sign-in is required', async t => {
  const { base, kept, account, addPerson, signIn } = await openDashboard(t)
  const own = await signIn(await addPerson('Super Administrator', { totp: totp({ confirmedAt: 1 }) }))
  const path = `${base}/members/two-factor`
  const form = await own.get(path)
  const { name } = (await kept.accounts.get(account))!
  await kept.accounts.update(account, { name, enforceTwoFactor: true })
  const late = await form.submit(path)
  assert.equal(late.status, 412)
  assert.match(late.text, /Somebody else changed this.*It is now: on\./)
  const isRequired = async () => (await kept.accounts.get(account))!.enforceTwoFactor
  assert.equal(await isRequired(), true)
  assert.equal((await late.submit(path)).status, 303)
  assert.notEqual(await isRequired(), true)
})

test('grants of members are listed, and can be ended', async t => {
  const { base, get, submit, kept, user, account } = await openDashboard(t)
  assert.match((await get(`${base}/apps`)).text, /No app acts for a member/)
  const given = grant({ account, user: user.id, scopes: ['ai_gateway.run'] })
  await kept.oauthGrants.insert(given)
  assert.match((await get(`${base}/apps`)).text, new RegExp(`${user.email} ai_gateway\\.run`))
  const ended = await submit(`${base}/apps/${given.id}/end`)
  assert.match((await ended.follow()).text, /can no longer act for the member.*No app acts/s)
})

test('a user with read permission sees members and apps, and no controls to change them', async t => {
  const { base, get, visitor, kept, account, user } = await openDashboard(t, 'Administrator')
  const { member } = await keepMember(kept, [role.reader])
  const given = grant({ account, user: user.id })
  await kept.oauthGrants.insert(given)
  assert.doesNotMatch((await get(`${base}/members`)).text, /Invite|Require/)
  assert.doesNotMatch((await get(`${base}/members/${member.id}`)).text, /Danger|Save/)
  assert.doesNotMatch((await get(`${base}/apps`)).text, /End…/)
  for (const path of [
    'members/new',
    'members/two-factor',
    `members/${member.id}/roles`,
    `members/${member.id}/link`,
    `members/${member.id}/sign-out`,
    `members/${member.id}/remove`,
    `apps/${given.id}/end`,
  ])
    assert.equal((await visitor.post(`${base}/${path}`, {})).status, 404, path)
})
