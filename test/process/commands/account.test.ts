// `gatehouse account` over a store of its own; test/journeys/accounts.test.ts has what a new account is good for while a gateway runs.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FirstFill } from '../../../src/process/store/first-start.ts'
import { openStore } from '../../../src/store/open.ts'
import { auditQuery } from '../../store/contract-specimens.ts'
import { quickGatehouse } from '../../help/command.ts'
import { writeConfig } from '../../help/gateway.ts'
import { startRedis } from '../../help/redis.ts'

const stores: Readonly<Record<string, (t: TestContext, folder: string) => Promise<string>>> = {
  SQLite: async (_, folder) => `sqlite:${join(folder, 'gatehouse.db')}`,
  Redis: async t => (await startRedis(t)).url,
}

const page = { offset: 0, limit: 10 }

/** Opens a store that a first start has filled, and returns what runs commands on it. */
async function prepare(t: TestContext, place: (typeof stores)[string]) {
  const file = writeConfig(t, `zones: []\nstore: { url: '\${STORE}', command_timeout: 5s }`)
  const STORE = await place(t, join(file, '..'))
  const store = await openStore(STORE, { commandTimeout: 5_000 })
  t.after(() => store.close())
  const { account: first } = (await new FirstFill(store).run(7))!
  const run = (...args: string[]) => quickGatehouse([...args, '--config', file], { STORE })
  return { store, first, run }
}

for (const [name, place] of Object.entries(stores))
  test(`an account is made with its gateway and its entry in the audit log, and nobody may do anything in it yet (${name})`, async t => {
    const { store, first, run } = await prepare(t, place)
    const begun = Date.now()
    const { code, stdout, stderr } = await run('account', 'create', '--name', 'Ærø')
    assert.equal(code, 0, stderr)
    assert.match(stdout, /^[0-9a-f]{32}\n$/)
    const id = stdout.trim()
    assert.match(stderr, /^Created the account Ærø, with the gateway default/)
    for (const next of ['user invite', 'token create'])
      assert.match(stderr, new RegExp(`^ {2}gatehouse ${next} --account ${id} `, 'm'))
    const kept = (await store.accounts.get(id))!
    assert.deepEqual(kept, { id, name: 'Ærø', createdAt: kept.createdAt })
    assert.ok(kept.createdAt >= begun && kept.createdAt <= Date.now())

    const gateway = (await store.gateways.get(id, 'default'))!.record
    const ofFirst = (await store.gateways.get(first, 'default'))!.record
    const times = { createdAt: kept.createdAt, modifiedAt: kept.createdAt }
    assert.deepEqual(gateway, { ...ofFirst, account: id, ...times })
    assert.equal(gateway.authentication, true)
    assert.equal((await store.tokens.list(id, page)).total, 0)
    assert.equal((await store.members.list(id, page)).total, 0)
    assert.equal(await store.accounts.oldest(), first)

    const { items, total } = await store.audit.list(id, auditQuery())
    const { actor, address, action, resourceKind, resource, changed } = items[0]!
    assert.equal(total, 1)
    assert.deepEqual(
      [actor, address, action, resourceKind, resource, changed],
      ['command line', '', 'create', 'account', id, ['name']],
    )
    assert.equal((await store.audit.list(first, auditQuery())).total, 0)
  })

test('accounts are listed with their names, the oldest first, for people and for programs', async t => {
  const { first, run } = await prepare(t, stores.SQLite!)
  const made = await run('account', 'create', '--json')
  const created = JSON.parse(made.stdout)
  assert.deepEqual([created.name, created.type], ['Account 2', 'standard'])
  const { stdout } = await run('account', 'list')
  const lines = stdout.trim().split('\n')
  assert.match(lines[0]!, /^ID +NAME +CREATED$/)
  assert.match(lines[1]!, new RegExp(`^${first} +default +1970-01-01T`))
  assert.match(lines[2]!, new RegExp(`^${created.id} +Account 2 +\\d{4}-`))
  assert.equal(lines.length, 3)
  const listed = JSON.parse((await run('account', 'list', '--json')).stdout)
  assert.deepEqual(listed.slice(1), [created])
  assert.equal(listed[0].id, first)
})

test('commands that need an account list them all where none is named', async t => {
  const { first, run } = await prepare(t, stores.SQLite!)
  const id = (await run('account', 'create', '--name', 'Shop')).stdout.trim()
  const sentence = `gatehouse: choose an account with --account: ${first} (default), ${id} (Shop)\n`
  for (const args of [
    ['token', 'create'],
    ['token', 'create', '--account', '0'.repeat(32)],
    ['user', 'invite'],
  ]) {
    const { code, stdout, stderr } = await run(...args)
    assert.deepEqual([code, stdout, stderr], [2, '', sentence], args.join(' '))
  }
  const { code, stderr } = await run('token', 'create', '--account', id)
  assert.deepEqual([code, stderr.includes(`Account ${id},`)], [0, true])
})

test('a name that cannot be shown is refused, and nothing is made', async t => {
  const { store, run } = await prepare(t, stores.SQLite!)
  for (const [name, sentence] of [
    ['', '--name must be a string of 1 to 100 characters'],
    ['x'.repeat(101), '--name must be a string of 1 to 100 characters'],
    ['a\u{202e}b', '--name must not contain control characters or lone surrogates'],
  ] as const) {
    const { code, stdout, stderr } = await run('account', 'create', '--name', name)
    assert.deepEqual([code, stdout, stderr], [2, '', `gatehouse: ${sentence}\n`])
  }
  assert.equal((await store.accounts.list()).length, 1)
})

test('a store that no gateway has filled yet gets no account', async t => {
  const file = writeConfig(t, 'zones: []')
  const env = { GATEHOUSE_DATA: join(file, '..', 'data') }
  const refused = async (sentence: RegExp) => {
    for (const verb of ['create', 'list']) {
      const { code, stdout, stderr } = await quickGatehouse(['account', verb, '--config', file], env)
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, sentence)
    }
  }
  await refused(
    /^gatehouse: there is no store sqlite:\S+data\/gatehouse\.db; start the gateway once to create it, name its data folder with --data, or restore it if it was removed$/m,
  )
  // In a folder that was mistyped, nothing is made.
  assert.equal(existsSync(env.GATEHOUSE_DATA), false)
  await (
    await openStore(`sqlite:${join(env.GATEHOUSE_DATA, 'gatehouse.db')}`, { commandTimeout: 5_000 })
  ).close()
  await refused(
    /^gatehouse: the store .* is empty; start the gateway once to fill it or, if it had records, restore them or run gatehouse store accept$/m,
  )
})
