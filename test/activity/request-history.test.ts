import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics, type Snapshot } from '../../src/metrics/metrics.ts'
import { RequestHistory } from '../../src/activity/request-history.ts'
import { ManualClock } from '../help/clock.ts'

const minute = 60_000

test('requests are counted in the minute and the hour in which they are seen, for so long', async () => {
  const clock = new ManualClock()
  const metrics = [new Metrics('0'), new Metrics('0')]
  let isCut = false
  const read = async (): Promise<Snapshot[]> =>
    Promise.all((isCut ? metrics.slice(1) : metrics).map(one => one.snapshot()))
  const history = new RequestHistory({ read, clock })
  const count = (windows: ReturnType<typeof history.minutes>) =>
    windows.flatMap(({ zones }, i) => {
      const found = zones.get('shop')?.['2xx']
      return found === undefined ? [] : [`${i - windows.length + 1}: ${found}`]
    })
  for (const { edge } of metrics) for (let i = 0; i < 3; i++) edge.zone('shop').request(200, 1)
  await Promise.all([history.sample(), history.sample()])
  assert.deepEqual([count(history.minutes()), count(history.hours())], [['0: 6'], ['0: 6']])
  await history.sample()
  assert.deepEqual(count(history.minutes()), ['0: 6'])
  clock.advance(minute)
  metrics[1]!.edge.zone('shop').request(204, 1)
  await history.sample()
  assert.deepEqual([count(history.minutes()), count(history.hours())], [['-1: 6', '0: 1'], ['0: 7']])
  // One that is missing once takes nothing back.
  isCut = true
  await history.sample()
  assert.deepEqual(count(history.minutes()), ['-1: 6', '0: 1'])
  clock.advance(59 * minute)
  assert.deepEqual([count(history.minutes()), count(history.hours())], [['-59: 1'], ['-1: 7']])
  clock.advance(24 * 60 * minute)
  assert.deepEqual([count(history.minutes()), count(history.hours())], [[], []])
})
