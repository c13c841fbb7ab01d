import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { obeySignals } from '../../../src/process/system/signals.ts'
import { turnsUntil } from '../../help/until.ts'

/** Obeys signals until the test ends; tells what was heard of them. */
function heard(t: TestContext): string[] {
  const told: string[] = []
  const before = new Map(
    ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'].map(name => [name, process.listeners(name)]),
  )
  t.after(() => {
    for (const [name, listeners] of before)
      for (const one of process.listeners(name))
        if (!listeners.includes(one)) process.removeListener(name, one)
  })
  obeySignals({
    reload: () => told.push('reload'),
    upgrade: () => told.push('upgrade'),
    stop: signal => told.push(`stop ${signal}`),
    force: code => told.push(`force ${code}`),
  })
  return told
}

test('a second SIGINT within 100 ms is the same Ctrl-C, a later one is another', async t => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const told = heard(t)
  process.emit('SIGINT', 'SIGINT')
  t.mock.timers.tick(99)
  process.emit('SIGINT', 'SIGINT')
  assert.deepEqual(told, ['stop SIGINT'])
  t.mock.timers.tick(100)
  await new Promise(setImmediate)
  process.emit('SIGINT', 'SIGINT')
  assert.deepEqual(told, ['stop SIGINT', 'force 130'])
})

test('a SIGINT that came while the process was busy is heard late, and no other one for it', async t => {
  const told = heard(t)
  process.kill(process.pid, 'SIGINT')
  await turnsUntil(() => told.length > 0)
  process.kill(process.pid, 'SIGINT')
  for (const end = performance.now() + 200; performance.now() < end; );
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  assert.deepEqual(told, ['stop SIGINT'])
})

test('a SIGTERM is never an echo', t => {
  const told = heard(t)
  process.emit('SIGINT', 'SIGINT')
  process.emit('SIGTERM', 'SIGTERM')
  process.emit('SIGHUP', 'SIGHUP')
  // Others that listen may write reports: the last one is ours.
  process.listeners('SIGUSR2').at(-1)!('SIGUSR2')
  assert.deepEqual(told, ['stop SIGINT', 'force 143', 'reload', 'upgrade'])
})
