// Writers and revokers that go on whatever happens to the servers, and what they were promised meanwhile.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Token } from '../../../../src/store/records/records.ts'
import { type Store, StoreUnreachable } from '../../../../src/store/contract/store.ts'
import type { RedisServer } from '../../../help/redis.ts'
import { hex, token } from '../../contract-specimens.ts'

export class FailoverLoad {
  /** Digests of tokens whose making was acknowledged, and whose deletion was not asked for. */
  readonly made = new Set<string>()
  /** Digests of tokens whose deletion was acknowledged. */
  readonly revoked = new Set<string>()
  refused = 0
  readonly #stores: readonly Store[]
  readonly #account = hex(16)
  #goesOn = true
  #ends: Promise<unknown> = Promise.resolve()

  constructor(stores: readonly Store[]) {
    this.#stores = stores
  }

  get acknowledged(): number {
    return this.made.size + 2 * this.revoked.size
  }

  get summary(): string {
    return `${this.made.size} made, ${this.revoked.size} revoked, ${this.refused} refused`
  }

  start(writers: number): void {
    const all = Array.from({ length: writers }, (_, i) =>
      this.#writeOn(this.#stores[i % this.#stores.length]!, i),
    )
    this.#ends = Promise.all(all)
  }

  async stop(): Promise<void> {
    this.#goesOn = false
    await this.#ends
  }

  /** Asserts that a server has all that was acknowledged. */
  async expectAll(server: RedisServer): Promise<void> {
    const digests = new Set((await server.ask('HKEYS', '{gatehouse}:digests')) as string[])
    const lost = [...this.made].filter(digest => !digests.has(digest))
    const undone = [...this.revoked].filter(digest => digests.has(digest))
    assert.deepEqual(
      [lost.length, undone.length],
      [0, 0],
      `lost and undone, of ${this.made.size} and ${this.revoked.size}`,
    )
  }

  async #writeOn(store: Store, number: number): Promise<void> {
    const own: Token[] = []
    for (let i = number; this.#goesOn; i++) {
      const old = i % 3 === 0 ? own[0] : undefined
      try {
        if (old) {
          await this.#revoke(store, old)
          own.shift()
        } else own.push(await this.#make(store))
      } catch (error) {
        if (!(error instanceof StoreUnreachable)) throw error
        this.refused++
      }
      // Without a pause, writers would take the processors from servers that elect one of them.
      await sleep(5)
    }
  }

  async #make(store: Store): Promise<Token> {
    const next = token({ account: this.#account })
    assert.equal(await store.tokens.insert(next), true)
    this.made.add(next.digest)
    return next
  }

  /** Asks until it is acknowledged: an attempt that was called lost may have done it. */
  async #revoke(store: Store, { account, id, digest }: Token): Promise<void> {
    const isFirst = this.made.delete(digest)
    const wasThere = await store.tokens.remove(account, id)
    assert.ok(wasThere || !isFirst, 'an acknowledged token is there')
    this.revoked.add(digest)
  }
}
