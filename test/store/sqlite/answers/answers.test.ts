import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Clock } from '../../../../src/base/clock.ts'
import { partSize } from '../../../../src/store/answers/answer.ts'
import { boundsWithin } from '../../answer-bounds.ts'
import { SqliteStore } from '../../../../src/store/sqlite/sqlite-store.ts'
import { until } from '../../../help/until.ts'
import { ContractClock } from '../../contract-clock.ts'
import { temporaryFile } from '../temporary-file.ts'

const far = 4_000_000_000_000
const mebibyte = 1024 * 1024
const at = (key: string) => ({ account: 'a', gateway: 'default', key })
const bounds = boundsWithin({ bytes: 32 * mebibyte, entries: 100 }, 10 * mebibyte)

async function opened(t: TestContext, file: string, clock?: Clock): Promise<SqliteStore> {
  const store = await SqliteStore.open(file, { commandTimeout: 5_000, ...(clock && { clock }) })
  t.after(() => store.close())
  return store
}

test('kill -9 in the middle of answers leaves whole ones, true sums, and nothing that stays', async t => {
  const file = temporaryFile(t)
  const child = fork(join(import.meta.dirname, 'answer-writer.ts'), [file], { stdio: 'inherit' })
  t.after(() => child.kill('SIGKILL'))
  let written = 0
  for await (const [count] of onMessage(child)) if ((written = count) >= 12) child.kill('SIGKILL')
  assert.ok(written >= 12)
  const clock = new ContractClock()
  const { answers } = await opened(t, file, clock)
  const whole = await Promise.all(Array.from({ length: 6 }, (_, i) => answers.read(at(`k${i}`))))
  for (const bytes of whole) assert.ok(bytes === null || bytes.every(byte => byte === bytes[0]))
  const { bytes, entries } = await answers.sum('a')
  const present = whole.filter(one => one !== null)
  assert.equal(entries, present.length)
  assert.equal(
    bytes,
    present.reduce((sum, { length }) => sum + length, 0),
  )
  clock.advance(60_000)
  await answers.eraseAccount('a')
  await answers.sweep(0)
  assert.deepEqual(await answers.total(), { bytes: 0, entries: 0 })
  const size = () => statSync(`${file}-answers`).size
  const before = size()
  // What was unfinished left room that is used again.
  for (let i = 0; i < 4; i++) await answers.write(at(`n${i}`), Buffer.alloc(partSize), far, bounds)
  assert.ok(size() <= before + 2 * mebibyte)
})

test('the file does not grow beyond the bounds, however much is written', async t => {
  const file = temporaryFile(t)
  const { answers } = await opened(t, file)
  const small = boundsWithin({ bytes: 8 * mebibyte, entries: 100 }, 2 * mebibyte)
  for (let i = 0; i < 40; i++) await answers.write(at(`k${i}`), Buffer.alloc(mebibyte, i), far, small)
  assert.deepEqual(await answers.total(), { bytes: 4 * mebibyte, entries: 4 })
  await answers.sweep(8 * mebibyte)
  assert.ok(statSync(`${file}-answers`).size < 16 * mebibyte)
})

test('a damaged file of answers is set aside, and nothing else is lost', async t => {
  const file = temporaryFile(t)
  const first = await opened(t, file)
  await first.answers.write(at('k'), Buffer.alloc(9), far, bounds)
  await first.close()
  writeFileSync(`${file}-answers`, 'this is no database, however long it is read'.repeat(99))
  const warning = once(process, 'warning')
  const { answers } = await opened(t, file)
  assert.match(String((await warning)[0]), /is damaged .* nothing is cached/)
  assert.equal(await answers.read(at('k')), null)
  assert.equal(await answers.write(at('k'), Buffer.alloc(9), far, bounds), true)
  assert.ok(readdirSync(dirname(file)).some(name => name.startsWith('gatehouse.db-answers.damaged-')))
})

test('two processes share the answers of a file, and trim them together', async t => {
  const file = temporaryFile(t)
  const [one, other] = [await opened(t, file), await opened(t, file)]
  const small = boundsWithin({ bytes: 200, entries: 20 }, 10)
  await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      (i % 2 === 0 ? one : other).answers.write(at(`k${i}`), Buffer.alloc(10), far, small),
    ),
  )
  assert.deepEqual(await one.answers.sum('a'), { bytes: 100, entries: 10 })
  assert.deepEqual(await other.answers.total(), { bytes: 100, entries: 10 })
})

async function* onMessage(child: ReturnType<typeof fork>): AsyncGenerator<readonly [number]> {
  const counts: number[] = []
  child.on('message', count => void counts.push(Number(count)))
  let hasEnded = false
  child.on('exit', () => void (hasEnded = true))
  for (;;) {
    await until(() => counts.length > 0 || hasEnded)
    const count = counts.shift()
    if (count === undefined) return
    yield [count]
  }
}
