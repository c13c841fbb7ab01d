// `gatehouse token create` over a store of its own; test/process/commands/commands.test.ts has what it refuses.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { FirstFill } from '../../../src/process/store/first-start.ts'
import { openStore } from '../../../src/store/open.ts'
import { digestOf } from '../../../src/tokens/token.ts'
import { auditQuery } from '../../store/contract-specimens.ts'
import { aclLine } from '../../help/acl.ts'
import { gatehouse } from '../../help/command.ts'
import { writeConfig } from '../../help/gateway.ts'
import { startRedis } from '../../help/redis.ts'

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
    const { code, stdout, stderr } = await gatehouse(args, { STORE: url })
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
      changed: ['name', 'policies'],
    })
  })

test('a command that the user of the store may not do says which rights are missing', async t => {
  const redis = await startRedis(t)
  const store = await openStore(redis.url, { commandTimeout: 5_000 })
  t.after(() => store.close())
  await new FirstFill(store).run(7)
  await redis.ask('ACL', 'SETUSER', ...aclLine('reader', 'secret'), '-hset')
  const file = writeConfig(t, `zones: []\nstore: { url: '\${STORE}', command_timeout: 5s }`)
  const STORE = `redis://reader:secret@127.0.0.1:${redis.port}`
  const { code, stdout, stderr } = await gatehouse(['token', 'create', '--config', file], { STORE })
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(
    stderr,
    /the Redis server cannot be the store: it denies user reader HSET on the keys .* Grant /,
  )
  assert.doesNotMatch(stderr, /secret/)
})
