// The link of a first start, as a real gateway prints it.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { pino } from 'pino'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import { People } from '../../../src/people/people.ts'
import { openStore } from '../../../src/store/open.ts'
import { mintToken } from '../../../src/tokens/token.ts'
import { type RunningGateway, startGateway } from '../../help/gateway.ts'
import { quickFolder } from '../../help/quick-folder.ts'
import { thorough } from '../../help/thorough.ts'
import { until } from '../../help/until.ts'

for (const workers of thorough([0, 2], [2]))
  test(`a first start prints a link that sets the account up (workers: ${workers})`, async t => {
    const gateway = await startGateway(t, `workers: ${workers}\nzones: []\n`)
    const { account, setUp } = await gateway.firstStart
    const { origin, pathname, searchParams } = new URL(setUp!)
    assert.deepEqual([origin, pathname], [gateway.admin, '/auth/set-up'])
    const store = await openStore(storeOf(gateway), { commandTimeout: 5_000 })
    t.after(() => store.close())
    const keys = new SecretKeys(randomBytes(32))
    const log = pino({ enabled: false })
    const people = new People({ store, keys, config: { signUp: 'invited', openid: null }, log })
    assert.equal((await people.setUp.find(searchParams.get('token')!))?.id, account)
    assert.ok(!JSON.stringify(gateway.lines).includes(searchParams.get('token')!), 'the log has no link')
  })

test('where the token was given, no secret is printed', async t => {
  const env = { GATEHOUSE_FIRST_TOKEN: mintToken().value }
  const gateway = await startGateway(t, 'zones: []\n', { env })
  const store = await openStore(storeOf(gateway), { commandTimeout: 5_000 })
  t.after(() => store.close())
  await until(async () => (await store.accounts.list()).length === 1)
  gateway.signal('SIGTERM')
  await gateway.exited
  const stderr = await gateway.stderr
  assert.match(stderr, /first start: the store was empty/)
  assert.doesNotMatch(stderr, /set_up|set-up|svct_/)
})

test('a link that cannot be stored is left out, and the log says why and how to create one', async t => {
  const path = join(quickFolder(t, 'store'), 'gatehouse.db')
  await (await openStore(`sqlite:${path}`, { commandTimeout: 5_000 })).close()
  // Another process has the file of the links, and not that of accounts and tokens.
  const holder = new DatabaseSync(`${path}-credentials`)
  t.after(() => holder.close())
  holder.exec('BEGIN IMMEDIATE')
  const gateway = await startGateway(t, `zones: []\nstore: { url: 'sqlite:${path}' }\n`)
  const { reason, next } = await gateway.logged('link to set up the account could not be stored')
  assert.deepEqual([reason, next], ['the store is busy', 'create one with gatehouse user invite'])
  const { token, setUp } = await gateway.firstStart
  assert.match(token, /^svct_/)
  assert.equal(setUp, null)
  assert.ok(!JSON.stringify(gateway.lines).includes('set-up?'), 'the log has no link')
})

function storeOf({ file }: RunningGateway): string {
  return `sqlite:${join(dirname(file), 'data', 'gatehouse.db')}`
}
