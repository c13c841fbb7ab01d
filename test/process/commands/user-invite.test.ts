// `gatehouse user invite` over a store of its own, with the links that it makes opened as the pages open them.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import { People } from '../../../src/people/people.ts'
import { roles } from '../../../src/permissions/roles.ts'
import { FirstFill } from '../../../src/process/store/first-start.ts'
import { openStore } from '../../../src/store/open.ts'
import { auditQuery } from '../../store/contract-specimens.ts'
import { userWith } from '../../people/user-with.ts'
import { Passwords } from '../../../src/people/passwords/passwords.ts'
import { quickGatehouse } from '../../help/command.ts'
import { writeConfig } from '../../help/gateway.ts'
import { startRedis } from '../../help/redis.ts'

const stores: Readonly<Record<string, (t: TestContext, folder: string) => Promise<string>>> = {
  SQLite: async (_, folder) => `sqlite:${join(folder, 'gatehouse.db')}`,
  Redis: async t => (await startRedis(t)).url,
}

const password = 'correct horse battery'
const visit = { address: '192.0.2.7', userAgent: null, ray: '0123456789abcdef' }

/** Fills a store and runs the command on it; `people` opens what it prints. */
async function prepare(t: TestContext, place: (typeof stores)[string], settings = '') {
  const file = writeConfig(
    t,
    `zones: []\nadmin: 127.0.0.1:18081\nlisten: ['127.0.0.1:0']\n${settings}store: { url: '\${STORE}', command_timeout: 5s }`,
  )
  const STORE = await place(t, join(file, '..'))
  const store = await openStore(STORE, { commandTimeout: 5_000 })
  t.after(() => store.close())
  const { account } = (await new FirstFill(store).run(7))!
  const people = new People({
    store,
    keys: new SecretKeys(randomBytes(32)),
    config: { signUp: 'invited', openid: null },
    log: pino({ enabled: false }),
  })
  const invite = (...args: string[]) =>
    quickGatehouse(['user', 'invite', ...args, '--config', file], { STORE, GATEHOUSE_DATA: join(file, '..') })
  // Who signed in is told apart, and later.
  const told = async () =>
    (await store.audit.list(account, auditQuery({ descending: false }))).items
      .filter(({ action }) => action !== 'sign_in')
      .map(entry => [entry.actor, entry.action, entry.resourceKind])
  return { store, account, people, invite, told }
}

const tokenOf = (stdout: string) => new URL(stdout.trim()).searchParams.get('token')!

for (const [name, place] of Object.entries(stores)) {
  test(`without an address, the link makes a super administrator (${name})`, async t => {
    const { store, account, people, invite, told } = await prepare(t, place)
    const { code, stdout, stderr } = await invite()
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^http:\/\/127\.0\.0\.1:18081\/auth\/set-up\?token=[\w-]{43}\n$/)
    assert.match(stderr, /within 15 minutes/)
    const value = tokenOf(stdout)
    assert.equal((await people.setUp.find(value))?.id, account)
    const done = await people.setUp.complete(value, { email: 'ada@example.com', password }, visit)
    assert.ok(done.outcome === 'signed_in')
    assert.equal((await store.members.find(account, done.user.id))!.record.isSuper, true)
    assert.deepEqual(await told(), [
      ['command line', 'create', 'account'],
      [done.user.id, 'create', 'member'],
    ])
  })
}

test('a person comes in whose address somebody else had signed up with', async t => {
  const { store, people, invite } = await prepare(t, stores.SQLite!)
  const squatter = userWith({
    email: 'grace@example.com',
    password: await new Passwords().hash(password),
  })
  await store.users.insert(squatter)
  const known = await invite('grace@example.com', '--role', 'administrator')
  assert.equal((await people.invitations.find(tokenOf(known.stdout)))!.isKnown, true)
  const again = await invite('grace@example.com')
  assert.equal(again.code, 0, again.stderr)
  const next = { password: 'a much better password' }
  const done = await people.invitations.acceptWithPassword(tokenOf(again.stdout), next, visit)
  assert.equal(done.outcome, 'signed_in')
  const { email } = squatter
  assert.equal((await people.signIn.withPassword({ email, password }, visit)).outcome, 'refused')
  const third = await invite('grace@example.com')
  assert.match(third.stderr, /sets a new password/)
})

test('a person is invited, again, and comes back after the password was lost', async t => {
  const { store, account, people, invite, told } = await prepare(t, stores.SQLite!)
  const first = await invite('Grace@Example.com', '--role', 'administrator')
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /^http:\/\/127\.0\.0\.1:18081\/auth\/invitation\?token=[\w-]{43}\n$/)
  const second = await invite('grace@example.com')
  assert.equal(second.code, 0, second.stderr)
  assert.equal(await people.invitations.find(tokenOf(first.stdout)), null)
  const accept = async (stdout: string, word: string) => {
    const done = await people.invitations.acceptWithPassword(tokenOf(stdout), { password: word }, visit)
    assert.ok(done.outcome === 'signed_in')
    return done.user
  }
  const user = await accept(second.stdout, password)
  const { record } = (await store.members.find(account, user.id))!
  assert.deepEqual([record.status, record.roles], ['accepted', [roles[1]!.id]])

  const lost = await invite('grace@example.com')
  assert.equal(lost.code, 0, lost.stderr)
  assert.match(lost.stderr, /sets a new password/)
  assert.equal((await people.signIn.withPassword({ email: user.email, password }, visit)).outcome, 'refused')
  assert.equal((await accept(lost.stdout, 'another horse battery')).id, user.id)
  assert.deepEqual(await told(), [
    ['command line', 'invite', 'member'],
    [user.id, 'accept', 'member'],
    ['command line', 'update', 'user'],
    [user.id, 'change_password', 'user'],
  ])
  const unchanged = await invite('grace@example.com', '--role', 'Administrator Read Only')
  assert.equal(unchanged.code, 2)
  assert.match(unchanged.stderr, /is a member already: change roles with gatehouse member update/)
})

test('the link leads to the issuer where one is set; without pages there is none', async t => {
  const published = await prepare(t, stores.SQLite!, 'oauth: { issuer: "https://id.example" }\n')
  assert.match((await published.invite()).stdout, /^https:\/\/id\.example\/auth\/set-up\?token=/)
})

test('mistakes are reported in a sentence, and create nothing', async t => {
  const { store, account, invite } = await prepare(t, stores.SQLite!)
  const cases: readonly [args: string[], sentence: RegExp][] = [
    [['ada'], /EMAIL must be an e-mail address/],
    [['ada@example.com'], /a new member needs --role: Super Administrator - All Privileges, Administrator/],
    [['ada@example.com', '--role', 'king'], /no role is named king; the roles are Super Administrator/],
    [['--role', 'administrator'], /--role needs an EMAIL/],
    [['--account', 'f'.repeat(32)], new RegExp(`choose an account with --account: ${account}`)],
  ]
  for (const [args, sentence] of cases) {
    const { code, stdout, stderr } = await invite(...args)
    assert.deepEqual([code, stdout], [2, ''], stderr)
    assert.match(stderr, sentence)
  }
  assert.equal(await store.users.findByEmail('ada@example.com'), null)
  assert.equal((await store.audit.list(account, auditQuery())).total, 0)
})
