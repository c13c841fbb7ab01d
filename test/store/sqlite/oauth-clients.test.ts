import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import type { Clock } from '../../../src/base/clock.ts'
import { SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { StoreUnreachable } from '../../../src/store/contract/store.ts'
import { ManualClock } from '../../help/clock.ts'
import { oauthClient, verification } from '../contract-specimens.ts'
import { temporaryFile } from './temporary-file.ts'

const claimer = join(import.meta.dirname, 'claimer.ts')
const lease = 60_000

/** Opens the clients of a file that another connection has open too. */
async function start(t: TestContext, clock?: Clock) {
  const file = temporaryFile(t)
  const store = await SqliteStore.open(file, { commandTimeout: 50, clock })
  t.after(() => store.close())
  const other = new DatabaseSync(file)
  t.after(() => other.close())
  const clients = store.oauthClients
  const insert = (nextCheckAt: number) =>
    clients.insert(oauthClient({ verification: verification({ nextCheckAt }) }))
  return { file, clients, other, insert }
}

/** Starts a process that claims, and returns what has it claim a few, and what has it claim the others and returns all that it got. */
async function startClaimer(
  t: TestContext,
  file: string,
): Promise<readonly [some: () => Promise<unknown>, all: () => Promise<string[]>]> {
  const child = spawn(process.execPath, [claimer, file], { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => child.kill('SIGKILL'))
  let said = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    said += text
  })
  const closed = once(child, 'close')
  await once(child.stdout, 'data')
  const some = () => {
    child.stdin.write('go\n')
    return once(child.stdout, 'data')
  }
  const all = async () => {
    child.stdin.end('go\n')
    await closed
    return said.trim().split('\n').slice(1)
  }
  return [some, all]
}

test('a client is due to the millisecond, by the clock that was given', async t => {
  const clock = new ManualClock(10_000)
  const { clients, insert } = await start(t, clock)
  await insert(10_001)
  assert.deepEqual(await clients.claimDue(10, lease), [])
  clock.advance(1)
  assert.equal((await clients.claimDue(10, lease)).length, 1)
  clock.advance(lease - 1)
  assert.deepEqual(await clients.claimDue(10, lease), [])
  clock.advance(1)
  assert.equal((await clients.claimDue(10, lease)).length, 1)
})

test('a time may have fractions', async t => {
  const { clients, insert } = await start(t, new ManualClock(10_000))
  await insert(9_999.75)
  await insert(10_000.25)
  assert.equal((await clients.claimDue(10, 0.5)).length, 1)
})

test('if nothing is due, the lock of the file is not taken', async t => {
  const { clients, other, insert } = await start(t)
  await insert(Date.now() + 60_000)
  other.exec('BEGIN IMMEDIATE')
  assert.deepEqual(await clients.claimDue(10, lease), [])
})

test('a claim that could not be written gives nothing away', async t => {
  const { clients, other, insert } = await start(t)
  await insert(Date.now() - 1_000)
  other.exec('BEGIN IMMEDIATE')
  await assert.rejects(clients.claimDue(10, lease), StoreUnreachable)
  other.exec('ROLLBACK')
  assert.equal((await clients.claimDue(10, lease)).length, 1)
})

test('each client is claimed by one of the processes that claim at the same time', async t => {
  const { file, clients, insert } = await start(t)
  const due = 500
  for (let i = 0; i < due; i++) await insert(Date.now() - 1_000)
  const claimers = await Promise.all([1, 2, 3].map(() => startClaimer(t, file)))
  // Each has some before one that is quick has all.
  await Promise.all(claimers.map(([some]) => some()))
  const claimed = await Promise.all(claimers.map(([, all]) => all()))
  assert.equal(new Set(claimed.flat()).size, due)
  assert.equal(claimed.flat().length, due)
  assert.ok(
    claimed.every(ids => ids.length > 0),
    'there was somebody to compete with',
  )
  assert.deepEqual(await clients.claimDue(10, lease), [])
})
