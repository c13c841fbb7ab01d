// What stands behind the management API, opened as the gateway opens it.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createLogger } from '../../../src/log/log.ts'
import { Metrics } from '../../../src/metrics/metrics.ts'
import { mintSecret } from '../../../src/oauth/clients/secret.ts'
import { Management } from '../../../src/process/services/management.ts'
import { openStore } from '../../../src/store/open.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import { edgeConfig } from '../../help/edge.ts'
import { startRedis } from '../../help/redis.ts'
import { until } from '../../help/until.ts'
import { account, oauthClient } from '../../store/contract-specimens.ts'

interface Opening {
  readonly key?: string | null
  readonly folder?: string
}

/** Opens it over a store until it said what was to be said; gives the lines of the log. */
async function openOver(t: TestContext, store: Store, { key = null, folder = dataFolder(t) }: Opening = {}) {
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', { write: line => lines.push(JSON.parse(line)) })
  const config = { ...edgeConfig([]), secrets: { key, oldKeys: [] } }
  const management = await Management.open(config, store, new Metrics('0'), log, folder)
  assert.equal(existsSync(join(folder, 'secrets.key')), key === null)
  return { lines, management }
}

function dataFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

async function open(t: TestContext, url: string): Promise<Store> {
  const store = await openStore(url, { commandTimeout: 5_000 })
  t.after(() => store.close())
  return store
}

test('a key is created once in the data folder where none is configured, and that is logged', async t => {
  const store = await open(t, 'sqlite::memory:')
  const folder = dataFolder(t)
  const first = await openOver(t, store, { folder })
  await first.management.close()
  const path = join(folder, 'secrets.key')
  const key = first.management.secrets.currentId
  const msg = 'created the key that protects client secrets; back it up together with the store'
  assert.equal(first.lines.length, 1)
  assert.partialDeepStrictEqual(first.lines, [{ path, key, msg }])
  assert.ok(!JSON.stringify(first.lines).includes(readFileSync(path, 'latin1').trim()))
  const again = await openOver(t, store, { folder })
  await again.management.close()
  assert.deepEqual([again.lines, again.management.secrets.currentId], [[], key])
})

test('a store that machines share requires a key that they share', async t => {
  const store = await open(t, (await startRedis(t)).url)
  const folder = dataFolder(t)
  await (await openOver(t, store, { folder })).management.close()
  const { lines, management } = await openOver(t, store, { folder })
  await management.close()
  assert.match(String(lines[0]!.msg), /^secrets\.key not set/)
  assert.equal(lines.length, 1)
  const configured = await openOver(t, store, { key: '0'.repeat(64) })
  await configured.management.close()
  assert.deepEqual(configured.lines, [])
})

test('a key that was lost, or left behind in the data folder, is reported when clients have secrets under it', async t => {
  const store = await open(t, 'sqlite::memory:')
  const folder = dataFolder(t)
  const { management } = await openOver(t, store, { folder })
  await management.close()
  const owner = account()
  await store.accounts.insert(owner)
  const { secret } = mintSecret(management.secrets, 0)
  await store.oauthClients.insert(oauthClient({ account: owner.id, secrets: [secret] }))
  const unknown = { level: 'warn', secrets: 1, clients: 1, keys: [secret.key] }

  const configured = await openOver(t, store, { key: '0'.repeat(64), folder: dataFolder(t) })
  await until(() => configured.lines.length > 0)
  await configured.management.close()
  assert.partialDeepStrictEqual(configured.lines, [unknown])

  rmSync(join(folder, 'secrets.key'))
  const lost = await openOver(t, store, { folder })
  await until(() => lost.lines.length > 1)
  await lost.management.close()
  assert.partialDeepStrictEqual(lost.lines, [{ path: join(folder, 'secrets.key') }, unknown])
})
