import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { createLogger } from '../../../src/log/log.ts'
import { revised } from '../../../src/oauth/clients/client.ts'
import { SecretUses } from '../../../src/oauth/clients/secret-uses.ts'
import { withoutOldSecret } from '../../../src/oauth/clients/secret.ts'
import { openStore } from '../../../src/store/open.ts'
import type { ClientSecret, OAuthClient } from '../../../src/store/records/oauth-client.ts'
import { type OAuthClients, type Store, StoreUnreachable } from '../../../src/store/contract/store.ts'
import { ManualClock } from '../../help/clock.ts'
import { until } from '../../help/until.ts'
import { clientWith, mint } from './client-with.ts'

const minute = 60_000
const hour = 60 * minute
const start = Date.UTC(2026, 0, 1, 12)

/** A store in memory, whose clients can be taken away, and changed by others just before a write. */
class Ground {
  readonly store: Store
  readonly clock = new ManualClock(start + 20 * minute)
  readonly lines: string[] = []
  /** What reads are rejected with. */
  failure: Error | null = null
  /** What happens before each write. */
  before: (client: OAuthClient) => Promise<unknown> = async () => {}
  reads = 0
  writes = 0
  #waiter: (() => void) | null = null

  constructor(store: Store) {
    this.store = store
  }

  static async open(t: TestContext): Promise<Ground> {
    const store = await openStore('sqlite::memory:', { commandTimeout: 1000 })
    t.after(() => store.close())
    return new Ground(store)
  }

  uses(): SecretUses {
    const log = createLogger('info', { write: line => this.lines.push(line) })
    const oauthClients = { get: this.#get, replace: this.#replace }
    return new SecretUses({ store: { oauthClients } as unknown as Store, log, clock: this.clock })
  }

  /** Keeps a client with two secrets. */
  async client(): Promise<readonly [client: OAuthClient, newer: ClientSecret, older: ClientSecret]> {
    const [newer, older] = [mint(), mint()]
    const client = clientWith({ secrets: [newer, older] })
    await this.store.oauthClients.insert(client)
    return [client, newer, older]
  }

  async kept({ account, id }: OAuthClient): Promise<OAuthClient> {
    return (await this.store.oauthClients.get(account, id))!.record
  }

  async usesOf(client: OAuthClient): Promise<readonly (number | null)[]> {
    return (await this.kept(client)).secrets.map(({ lastUsedAt }) => lastUsedAt)
  }

  /** Changes a client as its owner would. */
  async change(client: OAuthClient, changed: (kept: OAuthClient) => OAuthClient): Promise<void> {
    const { record, version } = (await this.store.oauthClients.get(client.account, client.id))!
    equal(await this.store.oauthClients.replace(revised(changed(record), {}, start), version), true)
  }

  /** Waits for a look at the store. */
  look(): Promise<void> {
    return new Promise(resolve => {
      this.#waiter = resolve
    })
  }

  get told(): readonly string[] {
    return this.lines.map(line => JSON.parse(line)).map(({ msg, of }) => `${msg}: ${of}`)
  }

  #get: OAuthClients['get'] = async (account, id) => {
    this.reads++
    setImmediate(() => this.#waiter?.())
    if (this.failure) throw this.failure
    return this.store.oauthClients.get(account, id)
  }

  #replace: OAuthClients['replace'] = async (record, version) => {
    await this.before(record)
    this.writes++
    return this.store.oauthClients.replace(record, version)
  }
}

describe('SecretUses', () => {
  test('keeps the hour of the use of a secret, and changes nothing else', async t => {
    const ground = await Ground.open(t)
    const [client, newer, older] = await ground.client()
    const uses = ground.uses()
    uses.note(client, older)
    await uses.close()
    deepEqual(await ground.kept(client), { ...client, secrets: [newer, { ...older, lastUsedAt: start }] })
  })

  test('writes a little later by itself, and what comes after that too', async t => {
    const ground = await Ground.open(t)
    const [client, newer, older] = await ground.client()
    const uses = ground.uses()
    for (const secret of [newer, older]) {
      const looked = ground.look()
      const { reads } = ground
      uses.note(client, secret)
      equal(ground.reads, reads)
      await looked
    }
    await uses.close()
    deepEqual(await ground.usesOf(client), [start, start])
  })

  test('writes a secret once an hour, however often it is used, and asks for nothing more', async t => {
    const ground = await Ground.open(t)
    const [client, newer, older] = await ground.client()
    const uses = ground.uses()
    for (let i = 0; i < 100; i++) uses.note(client, newer)
    await ground.look()
    for (let i = 0; i < 100; i++) uses.note(client, newer)
    uses.note(client, older)
    await ground.look()
    equal(ground.reads, 2)
    ground.clock.advance(41 * minute)
    uses.note(client, newer)
    await uses.close()
    deepEqual([ground.reads, ground.writes], [3, 3])
    deepEqual(await ground.usesOf(client), [start + hour, start])
  })

  test('keeps the next hour too, when it comes while the last one is written', async t => {
    const ground = await Ground.open(t)
    const [client, newer] = await ground.client()
    const uses = ground.uses()
    ground.before = async () => {
      ground.before = async () => {}
      ground.clock.advance(hour)
      uses.note(client, newer)
    }
    uses.note(client, newer)
    await ground.look()
    await ground.look()
    await uses.close()
    deepEqual(await ground.usesOf(client), [start + hour, null])
  })

  test('remembers a bounded number of secrets, and looks again at those it forgot', async t => {
    const ground = await Ground.open(t)
    const [client, newer] = await ground.client()
    const uses = ground.uses()
    uses.note(client, newer)
    await ground.look()
    // What is still to be written is one that waits.
    await until(async () => (await ground.usesOf(client))[0] !== null)
    for (let i = 1; i < 10_000; i++) uses.note({ ...client, id: `${i}` }, { ...newer, digest: `${i}` })
    uses.note(client, newer)
    await uses.close()
    deepEqual([ground.reads, ground.writes], [10_001, 1])
  })

  test('reads nothing where the record has the hour already', async t => {
    const ground = await Ground.open(t)
    const [client, newer] = await ground.client()
    const uses = ground.uses()
    uses.note(client, { ...newer, lastUsedAt: start })
    await uses.close()
    equal(ground.reads, 0)
  })

  test('writes nothing where another process has, or was later', async t => {
    const ground = await Ground.open(t)
    const [client, newer] = await ground.client()
    const [here, there] = [ground.uses(), ground.uses()]
    for (const uses of [here, there]) uses.note(client, newer)
    await here.close()
    await there.close()
    ground.clock.advance(-hour)
    const slow = ground.uses()
    slow.note(client, newer)
    await slow.close()
    deepEqual([ground.reads, ground.writes], [3, 1])
    deepEqual(await ground.usesOf(client), [start, null])
  })

  test('loses no change that others make meanwhile', async t => {
    const ground = await Ground.open(t)
    const [client, newer] = await ground.client()
    const names = ['one', 'two', 'three']
    ground.before = async () => {
      const name = names.shift()
      if (name !== undefined) await ground.change(client, kept => ({ ...kept, name }))
    }
    const uses = ground.uses()
    uses.note(client, newer)
    await uses.close()
    equal(ground.writes, 4)
    deepEqual(await ground.usesOf(client), [start, null])
    const { name, revision } = await ground.kept(client)
    deepEqual([name, revision], ['three', 4])
    deepEqual(ground.told, [])
  })

  test('gives a use up when others write without end', async t => {
    const ground = await Ground.open(t)
    const [client, newer] = await ground.client()
    ground.before = () => ground.change(client, kept => kept)
    const uses = ground.uses()
    uses.note(client, newer)
    await uses.close()
    equal(ground.writes, 10)
    deepEqual(await ground.usesOf(client), [null, null])
  })

  test('brings no secret and no client back that was removed meanwhile', async t => {
    const ground = await Ground.open(t)
    const [rotated, newer, older] = await ground.client()
    const [removed, secret] = await ground.client()
    ground.before = async ({ id }) => {
      ground.before = async () => {}
      equal(id, rotated.id)
      await ground.change(rotated, kept => withoutOldSecret(kept) as OAuthClient)
      await ground.store.oauthClients.remove(removed.account, removed.id)
    }
    const uses = ground.uses()
    uses.note(rotated, older)
    uses.note(removed, secret)
    await uses.close()
    deepEqual((await ground.kept(rotated)).secrets, [newer])
    equal(await ground.store.oauthClients.get(removed.account, removed.id), null)
  })

  test('keeps uses while the store is unreachable and writes them when it is back, with one warning', async t => {
    const ground = await Ground.open(t)
    const [client, newer, older] = await ground.client()
    const uses = ground.uses()
    ground.failure = new StoreUnreachable()
    uses.note(client, newer)
    await ground.look()
    uses.note(client, older)
    await ground.look()
    equal(ground.reads, 2)
    ground.failure = null
    await ground.look()
    await uses.close()
    deepEqual(await ground.usesOf(client), [start, start])
    deepEqual(ground.told, [
      'writing last-used times failed: client secrets',
      'last-used times written again: client secrets',
    ])
  })

  test('drops what the store can never take, tells the log once, and goes on', async t => {
    const ground = await Ground.open(t)
    const [client, newer, older] = await ground.client()
    const [another, secret] = await ground.client()
    ground.failure = new TypeError('no such column')
    const uses = ground.uses()
    uses.note(client, newer)
    uses.note(client, older)
    await ground.look()
    ground.failure = null
    uses.note(another, secret)
    await uses.close()
    deepEqual(await ground.usesOf(client), [null, null])
    deepEqual(await ground.usesOf(another), [start, null])
    equal(ground.told.length, 2)
  })

  test('gives up in the end when the store stays unreachable, and reports how much was lost', async t => {
    const ground = await Ground.open(t)
    const [client, newer, older] = await ground.client()
    ground.failure = new StoreUnreachable()
    const uses = ground.uses()
    uses.note(client, newer)
    uses.note(client, older)
    await uses.close()
    equal(ground.reads, 1)
    equal(JSON.parse(ground.lines.at(-1)!).lost, 2)
    uses.note(client, { ...newer, digest: 'another' })
    await uses.close()
    deepEqual([ground.reads, ground.told.length], [1, 2])
  })

  test('holds a bounded number of uses while the store is unreachable', async t => {
    const ground = await Ground.open(t)
    const [client, newer] = await ground.client()
    ground.failure = new StoreUnreachable()
    const uses = ground.uses()
    for (let i = 0; i < 25_000; i++) uses.note(client, { ...newer, digest: `${i}` })
    await uses.close()
    equal(JSON.parse(ground.lines.at(-1)!).lost, 10_000)
  })

  test('is no failure where the client or the secret is gone meanwhile', async t => {
    const ground = await Ground.open(t)
    const [client, newer] = await ground.client()
    const [another, , older] = await ground.client()
    const uses = ground.uses()
    uses.note(client, newer)
    uses.note(another, older)
    await ground.store.oauthClients.remove(client.account, client.id)
    await ground.change(another, kept => withoutOldSecret(kept) as OAuthClient)
    await uses.close()
    deepEqual([ground.told, ground.writes], [[], 0])
  })

  test('writes a use again that is of an earlier hour', async t => {
    const ground = await Ground.open(t)
    const [client, newer] = await ground.client()
    const used = { ...newer, lastUsedAt: start - hour }
    await ground.change(client, kept => ({ ...kept, secrets: [used] }))
    const uses = ground.uses()
    uses.note(client, used)
    await uses.close()
    deepEqual(await ground.usesOf(client), [start])
  })

  test('writes no digest to the log', async t => {
    const ground = await Ground.open(t)
    const [client, newer] = await ground.client()
    ground.failure = new StoreUnreachable()
    const uses = ground.uses()
    uses.note(client, newer)
    await uses.close()
    ok(ground.lines.length > 0)
    ok(!ground.lines.join('').includes(newer.digest))
  })

  test('keeps no process alive that has nothing else to do', async t => {
    const ground = await Ground.open(t)
    const [client, newer] = await ground.client()
    const uses = ground.uses()
    const before = process.getActiveResourcesInfo()
    uses.note(client, newer)
    const after = process.getActiveResourcesInfo()
    await uses.close()
    deepEqual(after, before)
  })
})
