import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { createLogger } from '../../../src/log/log.ts'
import type { ZoneRecordLists } from '../../../src/zones/known-zones.ts'
import { LocalCopy } from '../../../src/store/cache/local-copy.ts'
import { ManualClock, secondsUntil } from '../../help/clock.ts'
import { accessRuleList, errorPage, errorRuleList } from '../contract-specimens.ts'
import { longestStall, slowness } from '../../help/stall.ts'
import { cachePath } from '../../zones/opened-zones.ts'

const words = { unusable: 'copy unusable', written: 'copy written again', unwritten: 'writing failed' }
const location = 'redis://127.0.0.1:6379'
const lists: ZoneRecordLists = {
  error_rule_list: [errorRuleList()],
  access_rule_list: [accessRuleList()],
  error_page: [errorPage({ html: 'é\ud800\n'.repeat(10_000) })],
}

function copyAt(t: TestContext, path = cachePath(t), store = location) {
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', { write: line => lines.push(JSON.parse(line)) })
  const copy = new LocalCopy<ZoneRecordLists>({
    ...{ path, mark: 'test-1', words, location: store, log },
    clock: new ManualClock(),
  })
  t.after(() => copy.close())
  return { copy, path, lines }
}

/** Writes a copy, and gives the path of it. */
async function written(t: TestContext): Promise<string> {
  const { copy, path } = copyAt(t)
  copy.write(() => lists)
  await copy.close()
  return path
}

test('what is written is read again, by others than who wrote it', async t => {
  const { copy, lines } = copyAt(t, await written(t))
  assert.deepEqual(await copy.read(), { location, writtenAt: Date.UTC(2026, 0, 1), ...lists })
  assert.deepEqual(lines, [])
})

test('the file and its folder are for their owner only, and nothing is left beside it', async t => {
  const path = await written(t)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(statSync(dirname(path)).mode & 0o777, 0o700)
  assert.deepEqual(readdirSync(dirname(path)), ['zones.copy'])
})

test('a draft that a crash left behind is in nobody’s way, and never taken for the copy', async t => {
  const path = cachePath(t)
  mkdirSync(dirname(path))
  writeFileSync(`${path}.new`, 'half of', { mode: 0o644 })
  const { copy, lines } = copyAt(t, path)
  assert.equal(await copy.read(), null)
  copy.write(() => lists)
  await copy.close()
  assert.deepEqual((await copyAt(t, path).copy.read())?.error_page, lists.error_page)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.deepEqual(lines, [])
})

test('a missing file is not read, and nothing is logged', async t => {
  const { copy, lines } = copyAt(t)
  assert.equal(await copy.read(), null)
  assert.deepEqual(lines, [])
})

test('a file that was damaged anywhere is not taken, and that is logged', async t => {
  const path = await written(t)
  const whole = readFileSync(path)
  const damages = fc.oneof(
    fc.nat(whole.length - 2).map(length => whole.subarray(0, length)),
    fc.nat(whole.length - 2).map(at => whole.with(at, whole[at]! ^ 1)),
    fc.uint8Array({ maxLength: 200 }),
  )
  await fc.assert(
    fc.asyncProperty(damages, async bytes => {
      writeFileSync(path, bytes)
      const { copy, lines } = copyAt(t, path)
      assert.equal(await copy.read(), null)
      assert.partialDeepStrictEqual(lines, [{ level: 'error', path }])
    }),
    { numRuns: 200 },
  )
})

test('the copy of something else is not taken', async t => {
  const path = await written(t)
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', { write: line => lines.push(JSON.parse(line)) })
  const other = new LocalCopy({
    ...{ path, mark: 'other-1', words, location, log },
    clock: new ManualClock(),
  })
  assert.equal(await other.read(), null)
  assert.partialDeepStrictEqual(lines, [{ level: 'error', reason: 'unknown format', msg: words.unusable }])
})

test('the copy of another store is not taken, and the log says of which it is', async t => {
  const { copy, lines } = copyAt(t, await written(t), 'redis://other:6379')
  assert.equal(await copy.read(), null)
  assert.partialDeepStrictEqual(lines, [{ level: 'error', reason: `copy of another store, ${location}` }])
})

test('writes that come together are one, of the last', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { copy, path } = copyAt(t)
  let asked = 0
  for (let i = 0; i < 5; i++)
    copy.write(() => {
      asked++
      return { ...lists, error_page: [errorPage({ html: String(i) })] }
    })
  await secondsUntil(t, () => existsSync(path))
  assert.equal(asked, 1)
  assert.equal((await copyAt(t, path).copy.read())?.error_page[0]?.html, '4')
})

test('a write that fails is logged once, and tried again until it succeeds', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const path = cachePath(t)
  writeFileSync(dirname(path), 'a file where the folder should be')
  const { copy, lines } = copyAt(t, path)
  copy.write(() => lists)
  await secondsUntil(t, () => lines.length > 0)
  for (let second = 0; second < 30; second++) {
    t.mock.timers.tick(1_000)
    await new Promise(setImmediate)
  }
  assert.equal(lines.length, 1)
  assert.partialDeepStrictEqual(lines, [{ level: 'warn', path, err: { code: 'EEXIST' } }])
  rmSync(dirname(path))
  await secondsUntil(t, () => lines.length > 1)
  assert.partialDeepStrictEqual(lines[1], { level: 'info', msg: words.written })
  assert.deepEqual((await copy.read())?.error_page, lists.error_page)
})

test('many large lists are written with turns for others between', async t => {
  const [list] = lists.error_rule_list
  const rules = Array.from({ length: 100 }, () => ({ ...list!.rules[0]!, content: 'x'.repeat(10_000) }))
  const error_rule_list = Array.from({ length: 50 }, (_, i) => ({ ...list!, id: `zone-${i}`, rules }))
  let least = Infinity
  for (let i = 0; i < 20 && least > 10; i++) {
    const { copy } = copyAt(t, `${cachePath(t)}-${i}`)
    copy.write(() => ({ ...lists, error_rule_list }))
    const { longest } = await longestStall(() => copy.close())
    least = Math.min(least, longest / slowness())
  }
  assert.ok(least <= 10, `held for ${least} ms`)
})
