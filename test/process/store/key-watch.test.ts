import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { SecretKeys } from '../../../src/base/secrets/secret-keys.ts'
import { createLogger } from '../../../src/log/log.ts'
import { KeyWatch } from '../../../src/process/store/key-watch.ts'
import { copyStore } from '../../../src/store/copy.ts'
import { openStore } from '../../../src/store/open.ts'
import { keyNoteOf } from '../../../src/store/contract/key-note.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import { gatehouse } from '../../help/command.ts'
import { freePort } from '../../help/free-port.ts'
import { main, spawnGateway, writeConfig } from '../../help/gateway.ts'
import { startRedis } from '../../help/redis.ts'
import { until } from '../../help/until.ts'
import { account, token } from '../../store/contract-specimens.ts'
import { temporaryFile } from '../../store/sqlite/temporary-file.ts'

const places: Readonly<Record<string, (t: TestContext) => Promise<string>>> = {
  SQLite: async t => `sqlite:${temporaryFile(t)}`,
  Redis: async t => (await startRedis(t)).url,
}

const [one, two] = [randomBytes(32), randomBytes(32)]
const idOf = (key: Buffer) => new SecretKeys(key).currentId

/** A machine with its own connection that does not serve yet, and what its log has. */
async function machine(t: TestContext, url: string, keys: SecretKeys) {
  const lines: object[] = []
  const log = createLogger('info', { write: line => lines.push(JSON.parse(line)) })
  const store = await openStore(url, { commandTimeout: 5_000 })
  const watch = new KeyWatch(store, keys, log)
  await watch.open()
  const close = async () => {
    await watch.close()
    await store.close()
  }
  t.after(close)
  return { store, watch, lines, close }
}

const codes = ({ degradation }: Store) => degradation.reasons.map(({ code }) => code)
const named = async ({ notes }: Store) => (await keyNoteOf(notes))?.record.value

/** Resolves when a watch has begun one look after now, and completed it. */
async function nextLook({ notes }: Store): Promise<void> {
  const { get } = notes
  let count = 0
  notes.get = (...args) => {
    count++
    return get.apply(notes, args)
  }
  await until(() => count >= 2)
  notes.get = get
}

for (const [name, placeOf] of Object.entries(places)) {
  test(`${name}: a store takes the key of its first machine, and another machine with another key confirms no change`, async t => {
    const url = await placeOf(t)
    const first = await machine(t, url, new SecretKeys(one))
    assert.deepEqual([await named(first.store), codes(first.store)], [idOf(one), []])
    const second = await machine(t, url, new SecretKeys(two))
    assert.deepEqual(codes(second.store), ['other_secrets_key'])
    assert.equal(
      second.store.degradation.reasons[0]!.message,
      `the store names ${idOf(one)} as the key of client secrets, and this machine has ${idOf(two)}`,
    )
    await assert.rejects(second.store.tokens.insert(token()), { name: 'StoreDegraded' })
    assert.ok(await first.store.tokens.insert(token()))
    assert.equal(await named(first.store), idOf(one))
    assert.deepEqual([first.lines, second.lines], [[], []])
  })

  test(`${name}: a gateway names its rotated key once it serves, and a machine that runs without that key notices`, async t => {
    const url = await placeOf(t)
    const running = await machine(t, url, new SecretKeys(one))
    const rotated = await machine(t, url, new SecretKeys(two, [one]))
    await nextLook(rotated.store)
    assert.deepEqual([await named(rotated.store), codes(rotated.store)], [idOf(one), []])
    rotated.watch.serve()
    await until(() => codes(running.store).length > 0)
    assert.deepEqual(codes(running.store), ['other_secrets_key'])
    assert.equal(await named(rotated.store), idOf(two))
    const prepared = await machine(t, url, new SecretKeys(one, [two]))
    prepared.watch.serve()
    await until(async () => (await named(prepared.store)) === idOf(one))
    await until(() => codes(running.store).length === 0)
    // The two know the keys of each other, and neither renames it again.
    const { version } = (await keyNoteOf(rotated.store.notes))!
    await nextLook(rotated.store)
    await nextLook(prepared.store)
    assert.equal((await keyNoteOf(prepared.store.notes))!.version, version)
    assert.deepEqual([codes(rotated.store), codes(prepared.store)], [[], []])
  })

  test(`${name}: a copy names the key of the store that was copied`, async t => {
    const from = await machine(t, `sqlite:${temporaryFile(t)}`, new SecretKeys(one))
    await from.store.accounts.insert(account())
    const url = await placeOf(t)
    const to = await openStore(url, { commandTimeout: 5_000 })
    t.after(() => to.close())
    await copyStore(from.store, to)
    assert.equal(await named(to), idOf(one))
    assert.deepEqual(codes((await machine(t, url, new SecretKeys(two))).store), ['other_secrets_key'])
  })

  test(`${name}: a gateway with another key is not ready and serves no site, until it has the key of the store or that is accepted`, async t => {
    const url = await placeOf(t)
    const before = await machine(t, url, new SecretKeys(one))
    await before.close()
    const [port, edge] = [await freePort(), await freePort()]
    const file = writeConfig(
      t,
      `zones: []\nstore: { url: '${url}' }\nsecrets: { key: '${two.toString('hex')}' }\nadmin: 127.0.0.1:${port}\nlisten: [127.0.0.1:${edge}]`,
    )
    const env = { ...process.env, GATEHOUSE_DATA: join(dirname(file), 'data') }
    const starting = spawnGateway(t, [main, 'start', '--config', file], { env }, file)
    const ready = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null)
      return { code: response?.status, ...((await response?.json()) as { reason?: string; next?: string }) }
    }
    await until(async () => (await ready()).reason?.includes(idOf(one)) === true)
    const { code, reason, next } = await ready()
    assert.equal(code, 503)
    assert.match(reason!, new RegExp(`names ${idOf(one)} .* this machine has ${idOf(two)}$`))
    // In `secrets.old_keys` alone, this machine would have the store name its own key, and the others would not be trusted.
    assert.match(
      next!,
      /^Give this machine the key that the store names as its `secrets.key`, .* and restart it/,
    )
    await assert.rejects(fetch(`http://127.0.0.1:${edge}`), 'no site is served')

    const accepted = await gatehouse(['store', 'accept', '--config', file], env)
    assert.equal(accepted.code, 0, accepted.stderr)
    assert.match(accepted.stdout, new RegExp(`Key: +${idOf(one)} of the store, ${idOf(two)} of this machine`))
    assert.match(accepted.stdout, new RegExp(`under the key ${idOf(one)} is no longer valid`))
    for (const key of [one, two]) assert.ok(!(accepted.stdout + reason).includes(key.toString('hex')))
    await starting
    assert.equal((await ready()).code, 200)
    const again = await gatehouse(['store', 'accept', '--config', file, '--json'], env)
    const { remembered, found, ...facts } = JSON.parse(again.stdout)
    assert.deepEqual(facts, { accepted: true, accounts: 1, replaced_key: null })
    assert.match(remembered.id, /^[0-9a-f]{8}$/)
    assert.deepEqual([found.id, found.location, found.moved], [remembered.id, remembered.location, false])
  })
}
