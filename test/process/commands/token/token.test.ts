// `gatehouse token` over a store of its own; test/process/commands/commands.test.ts has what it refuses.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { FirstFill } from '../../../../src/process/store/first-start.ts'
import { openStore } from '../../../../src/store/open.ts'
import { newToken } from '../../../../src/tokens/new-token.ts'
import { digestOf, mintToken } from '../../../../src/tokens/token.ts'
import { auditQuery } from '../../../store/contract-specimens.ts'
import { aclLine } from '../../../help/acl.ts'
import { quickGatehouse } from '../../../help/command.ts'
import { main, writeConfig } from '../../../help/gateway.ts'
import { startRedis } from '../../../help/redis.ts'
import { atTerminal } from '../../../help/terminal.ts'

const stores: Readonly<Record<string, (t: TestContext, folder: string) => Promise<string>>> = {
  SQLite: async (_, folder) => `sqlite:${join(folder, 'gatehouse.db')}`,
  Redis: async t => (await startRedis(t)).url,
}

for (const [name, place] of Object.entries(stores))
  test(`a token is made together with its entry in the audit log (${name})`, async t => {
    const file = writeConfig(t, `zones: []\nstore: { url: '\${STORE}', command_timeout: 5s }`)
    const url = await place(t, join(file, '..'))
    const store = await openStore(url, { commandTimeout: 5_000 })
    t.after(() => store.close())
    const { account } = (await new FirstFill(store).run(7))!
    const begun = Date.now()
    const args = ['token', 'create', '--config', file, '--name', 'backup']
    const { code, stdout, stderr } = await quickGatehouse(args, { STORE: url })
    assert.equal(code, 0, stderr)
    const token = (await store.tokens.findByDigest(digestOf(stdout.trim())))!
    assert.equal(token.name, 'backup')

    const { items, total } = await store.audit.list(account, auditQuery())
    assert.equal(total, 1)
    const { id, at, ray, ...entry } = items[0]!
    assert.match(id, /^[0-9a-f]{32}$/)
    assert.match(ray, /^[0-9a-f]{16}$/)
    assert.ok(at >= begun && at <= Date.now() && at === token.issuedOn)
    assert.deepEqual(entry, {
      account,
      actor: 'command line',
      address: '',
      action: 'create',
      resourceKind: 'token',
      resource: token.id,
      resourceName: 'backup',
      changed: ['name', 'policies'],
    })
  })

/** Fills a store, and returns what runs a verb of `gatehouse token` over it. */
async function filled(t: TestContext) {
  const file = writeConfig(t, 'zones: []')
  const env = { GATEHOUSE_DATA: join(file, '..') }
  const store = await openStore(`sqlite:${join(file, '..', 'gatehouse.db')}`, { commandTimeout: 5_000 })
  t.after(() => store.close())
  const { account } = (await new FirstFill(store).run(7))!
  const token = (...args: readonly string[]) => quickGatehouse(['token', ...args, '--config', file], env)
  return { store, account, token, file, env }
}

test('a token is limited to gateways and models, whose names are checked', async t => {
  const file = writeConfig(t, `zones: []\nstore: { url: '\${STORE}' }`)
  const url = `sqlite:${join(file, '..', 'gatehouse.db')}`
  const store = await openStore(url, { commandTimeout: 5_000 })
  t.after(() => store.close())
  await new FirstFill(store).run(7)
  const create = (...args: string[]) =>
    quickGatehouse(['token', 'create', '--config', file, ...args], { STORE: url })
  const args = ['--only-gateway', 'team-*', '--only-model', 'openai/gpt-4o*', '--only-model', 'fast']
  const { code, stdout, stderr } = await create(...args)
  assert.equal(code, 0, stderr)
  const { gateways, models } = (await store.tokens.findByDigest(digestOf(stdout.trim())))!
  assert.deepEqual([gateways, models], [['team-*'], ['openai/gpt-4o*', 'fast']])
  for (const [option, value] of [
    ['--only-gateway', 'Team'],
    ['--only-model', 'a b'],
  ] as const) {
    const refused = await create(option, value)
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, new RegExp(`${option} '${value}' must be a name`))
  }
})

test('a token has spend limits, which are checked as the API checks them', async t => {
  const { token, store } = await filled(t)
  const args = ['--spend', '0.10/day', '--tokens-per-minute', '10000', '--concurrent-calls', '4']
  const { code, stdout, stderr } = await token('create', ...args)
  assert.equal(code, 0, stderr)
  const { account, id, spendLimits } = (await store.tokens.findByDigest(digestOf(stdout.trim())))!
  assert.deepEqual(
    spendLimits!.rules.map(({ unit, limit, window }) => [unit, limit, window]),
    [
      ['cost', 0.1, 'day'],
      ['tokens', 10_000, 60],
      ['concurrency', 4, null],
    ],
  )
  const { items } = await store.audit.list(account, auditQuery())
  const entry = items.find(({ resource }) => resource === id)
  assert.deepEqual(entry?.changed, ['name', 'policies', 'spend_limits'])
  for (const [option, value, sentence] of [
    ['--spend', '5', /--spend must be USD in a minute/],
    ['--spend', '9999999/day', /limit must be a number of USD above 0, up to 1000000/],
    ['--concurrent-calls', '1000000', /limit must be a whole number from 1 to 100000/],
  ] as const) {
    const refused = await token('create', option, value)
    assert.deepEqual([refused.code, refused.stdout], [2, ''])
    assert.match(refused.stderr, sentence)
  }
  const plain = await token('create', '--spend', 'off')
  assert.equal((await store.tokens.findByDigest(digestOf(plain.stdout.trim())))!.spendLimits, undefined)
})

test('the spend limits of a token are changed one by one, and keep what was spent', async t => {
  const { store, account, token } = await filled(t)
  const { stdout } = await token('create', '--name', 'trial', '--spend', '0.10/day', '--spend', '1/week')
  const current = async () => (await store.tokens.findByDigest(digestOf(stdout.trim())))!
  const { id, spendLimits, ...rest } = await current()
  const set = (...args: string[]) => token('set', id, ...args)
  const raised = await set('--spend', '0.20/day', '--spend', '1/week', '--tokens-per-minute', '500')
  assert.equal(raised.code, 0, raised.stderr)
  assert.equal(raised.stdout, 'trial: 0.2 USD a day; 1 USD a week; 500 tokens in 60 s\n')
  const { modifiedOn, spendLimits: after, ...same } = await current()
  assert.deepEqual(same, { id, ...(({ modifiedOn: _, ...others }) => others)(rest) })
  assert.ok(modifiedOn >= rest.modifiedOn)
  assert.deepEqual(
    after!.rules.slice(0, 2),
    spendLimits!.rules.map((rule, i) => (i === 0 ? { ...rule, limit: 0.2 } : rule)),
  )
  const { action, resource, changed } = (await store.audit.list(account, auditQuery())).items.at(-1)!
  assert.deepEqual([action, resource, changed], ['update', id, ['spend_limits']])
  assert.equal((await set('--spend', 'off')).stdout, 'trial: 500 tokens in 60 s\n')
  assert.equal((await set('--tokens-per-minute', 'off')).stdout, 'trial: no limits\n')
  assert.equal('spendLimits' in (await current()), false)
  for (const [args, words] of [
    [[], /name a limit to change, such as --spend 0.20\/day/],
    [['--spend', '5'], /--spend must be USD in a minute/],
    [['--spend', '9999999/day'], /limit must be a number of USD above 0, up to 1000000/],
  ] as const) {
    const { code, stderr } = await set(...args)
    assert.equal(code, 2)
    assert.match(stderr, words)
  }
  const { code, stderr } = await token('set', '0'.repeat(32), '--spend', '1/day')
  assert.equal(code, 1)
  assert.match(stderr, /the account has no token 0{32}/)
})

test('tokens are listed as the API shows them, without their values', async t => {
  const { token, store, account } = await filled(t)
  const made = await token('create', '--name', 'laptop', '--permission', 'AI Gateway Read', '--json')
  const { value, ...shown } = JSON.parse(made.stdout)
  assert.match(value, /^svct_/)
  await store.tokens.noteUses([{ account, id: shown.id, at: Date.parse('2031-02-03T04:00:00Z') }])
  const listed = await token('list', '--json')
  assert.equal(listed.stderr, '')
  const [first, second, ...more] = JSON.parse(listed.stdout)
  assert.deepEqual(more, [])
  assert.equal(first.name, 'bootstrap')
  assert.deepEqual(second, { ...shown, last_used_on: '2031-02-03T04:00:00.000Z' })
  const { stdout } = await token('list')
  assert.ok(!`${listed.stdout}${stdout}`.includes(value))
  assert.match(stdout, /^TOKEN ID +STATUS +CREATED +LAST USED +EXPIRES +PERMISSIONS +NAME\n/)
  assert.match(stdout, new RegExp(`^${shown.id}  active  .*  2031-02-03  - +AI Gateway Read  +laptop$`, 'm'))
})

test('a token that is rolled has another value, and one that is revoked is gone, both with an entry in the audit log', async t => {
  const { token, store, account } = await filled(t)
  const old = (await token('create')).stdout.trim()
  const { id } = (await store.tokens.findByDigest(digestOf(old)))!
  const rolled = await token('roll', id, '--yes')
  assert.deepEqual([rolled.code, /shown only once/.test(rolled.stderr)], [0, true])
  assert.equal(await store.tokens.findByDigest(digestOf(old)), null)
  assert.equal((await store.tokens.findByDigest(digestOf(rolled.stdout.trim())))?.id, id)
  const revoked = await token('revoke', id, '--yes')
  assert.deepEqual(revoked, { code: 0, stdout: '', stderr: `Revoked the token ${id} (command line).\n` })
  assert.equal(await store.tokens.get(account, id), null)
  const { items } = await store.audit.list(account, auditQuery())
  const entries = items.map(({ action, actor, resource, changed }) => ({ action, actor, resource, changed }))
  const common = { actor: 'command line', resource: id }
  for (const entry of [
    { action: 'roll', ...common, changed: ['value'] },
    { action: 'delete', ...common, changed: [] },
  ])
    assert.ok(
      entries.some(one => isDeepStrictEqual(one, entry)),
      JSON.stringify(entries),
    )
  const again = await token('revoke', id, '--yes')
  assert.deepEqual([again.code, again.stdout], [1, ''])
  assert.match(again.stderr, /^gatehouse: the account has no token /)
})

test('the token that a member made is listed with them, and can be revoked, but not rolled', async t => {
  const { token, store, account } = await filled(t)
  const person = { user: 'a'.repeat(32), email: 'ada@example.com', member: 'b'.repeat(32) }
  const settings = { name: 'laptop', policies: [] }
  const made = newToken(account, settings, 7, mintToken(), person)
  await store.tokens.insert(made.token)
  const { id } = made.token
  assert.match((await token('list')).stdout, new RegExp(`^${id} .* laptop \\(of ada@example\\.com\\)$`, 'm'))
  const rolled = await token('roll', id, '--yes')
  assert.deepEqual([rolled.code, rolled.stdout], [1, ''])
  assert.match(rolled.stderr, /belongs to ada@example\.com, who alone may have its value/)
  assert.equal((await store.tokens.findByDigest(digestOf(made.value)))?.id, id)
  assert.equal((await token('revoke', id, '--yes')).code, 0)
})

test('revoke and roll do nothing where nobody can be asked, or where they are given the value of a token', async t => {
  const { token, store } = await filled(t)
  const value = (await token('create')).stdout.trim()
  const { id } = (await store.tokens.findByDigest(digestOf(value)))!
  for (const verb of ['revoke', 'roll']) {
    const unasked = await token(verb, id)
    assert.deepEqual([unasked.code, unasked.stdout], [2, ''])
    assert.match(unasked.stderr, /^gatehouse: .* once it is (revoked|rolled); say --yes\n$/)
    const misplaced = await token(verb, value, '--yes')
    assert.equal(misplaced.code, 2)
    assert.match(misplaced.stderr, /^gatehouse: a token is named by its id/)
    assert.ok(!misplaced.stderr.includes(value))
  }
  assert.equal((await store.tokens.findByDigest(digestOf(value)))?.id, id)
})

test('a person who types something else revokes nothing', async t => {
  const { token, store, file, env } = await filled(t)
  const value = (await token('create')).stdout.trim()
  const { id } = (await store.tokens.findByDigest(digestOf(value)))!
  const line = `'${process.execPath}' '${main}' token revoke ${id} --config '${file}'`
  const declining = atTerminal(t, line, env)
  await declining.shows(/Type its id to revoke it: /)
  declining.press('no\n')
  assert.equal(await declining.exited, 1)
  assert.match(declining.text, /Nothing was revoked\./)
  assert.equal((await store.tokens.findByDigest(digestOf(value)))?.id, id)
  const agreeing = atTerminal(t, line, env)
  await agreeing.shows(/Type its id to revoke it: /)
  agreeing.press(`${id}\n`)
  assert.equal(await agreeing.exited, 0)
  assert.equal(await store.tokens.findByDigest(digestOf(value)), null)
})

test('a command that the user of the store may not do says which rights are missing', async t => {
  const redis = await startRedis(t)
  const store = await openStore(redis.url, { commandTimeout: 5_000 })
  t.after(() => store.close())
  await new FirstFill(store).run(7)
  await redis.ask('ACL', 'SETUSER', ...aclLine('reader', 'secret'), '-hset')
  const file = writeConfig(t, `zones: []\nstore: { url: '\${STORE}', command_timeout: 5s }`)
  const STORE = `redis://reader:secret@127.0.0.1:${redis.port}`
  const { code, stdout, stderr } = await quickGatehouse(['token', 'create', '--config', file], { STORE })
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(
    stderr,
    /the Redis server cannot be the store: it denies user reader HSET on the keys .* Grant /,
  )
  assert.doesNotMatch(stderr, /secret/)
})
