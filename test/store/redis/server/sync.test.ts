// Watching a server that syncs once a second, and confirms early: a model of how it appends and syncs is watched here.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock as clock } from '../../../../src/base/clock.ts'
import { isSyncingIn, outwaitSync } from '../../../../src/store/redis/server/sync.ts'

/** Appends with each command; syncs take so many ms. */
class Appender {
  written = 0
  synced = 0
  #requested = 0
  #isSyncing = false
  #lastSync: number
  readonly #ms: number

  constructor({ ms, ago }: { readonly ms: number; readonly ago: number }) {
    this.#ms = ms
    this.#lastSync = clock.monotonic() - ago
  }

  /** Replies as INFO does, before it appends and looks whether a sync is due. */
  command(): boolean {
    const reply = this.#isSyncing
    this.written++
    const isDue = clock.monotonic() - this.#lastSync >= 1_000
    if (isDue && !this.#isSyncing) this.sync()
    if (isDue) this.#lastSync = clock.monotonic()
    return reply
  }

  sync(): void {
    this.#isSyncing = true
    this.#requested = this.written
    setTimeout(() => {
      this.#isSyncing = false
      this.synced = this.#requested
    }, this.#ms)
  }
}

const limit = () => ({ clock, end: clock.monotonic() + 10_000 })

for (const [name, ms, ago] of [
  ['has just synced', 10, 0],
  ['is about to sync', 10, 990],
  ['takes long to sync', 700, 500],
] as const)
  test(`a server that ${name} is watched until its disk has what was written`, async () => {
    const server = new Appender({ ms, ago })
    server.command()
    const { written } = server
    assert.equal(await outwaitSync(async () => server.command(), limit()), true)
    assert.ok(server.synced >= written)
  })

test('a sync that was under way before says nothing of what was written during it', async () => {
  const server = new Appender({ ms: 300, ago: 980 })
  server.sync()
  server.command()
  const { written } = server
  assert.equal(await outwaitSync(async () => server.command(), limit()), true)
  assert.ok(server.synced >= written)
})

test('a sync that does not end is given up', async () => {
  const end = clock.monotonic() + 100
  assert.equal(await outwaitSync(async () => true, { clock, end }), false)
})

test('a server that does not tell counts as syncing', () => {
  assert.equal(isSyncingIn('aof_pending_bio_fsync:0\r\n'), false)
  assert.equal(isSyncingIn('aof_pending_bio_fsync:2\r\n'), true)
  assert.equal(isSyncingIn('aof_enabled:1\r\n'), true)
  assert.equal(isSyncingIn(new Error('NOPERM')), true)
})
