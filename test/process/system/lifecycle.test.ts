import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Lifecycle, type Part } from '../../../src/process/system/lifecycle.ts'

/** Makes a part that writes down when it starts and stops; `more` replaces members. */
function part(name: string, story: string[], more: Partial<Part> = {}): Part {
  return {
    name,
    deadline: () => 1000,
    start: () => void story.push(`+${name}`),
    stop: () => void story.push(`-${name}`),
    ...more,
  }
}

const unexpected = (name: string, cause: unknown) => assert.fail(`${name}: ${cause}`)

test('parts start in order and stop in reverse', async () => {
  const story: string[] = []
  const life = new Lifecycle([part('a', story), part('b', story), part('c', story)], unexpected)
  assert.equal(life.phase, 'starting')
  await life.start()
  assert.equal(life.phase, 'running')
  const stopped = life.stop()
  assert.equal(life.phase, 'stopping', 'the phase changes at once')
  await stopped
  assert.equal(life.phase, 'stopped')
  assert.deepEqual(story, ['+a', '+b', '+c', '-c', '-b', '-a'])
})

test('when a part cannot start, those before it are stopped and the reason is thrown', async () => {
  const story: string[] = []
  const start = () => Promise.reject(new Error('in use'))
  const life = new Lifecycle([part('a', story), part('b', story, { start }), part('c', story)], unexpected)
  await assert.rejects(life.start(), /in use/)
  assert.deepEqual(story, ['+a', '-b', '-a'])
})

test('a part that does not stop in time, or fails to, is named, and the others are stopped', async () => {
  const story: string[] = []
  const failures: string[] = []
  const life = new Lifecycle(
    [
      part('a', story),
      part('b', story, { deadline: () => 20, stop: () => new Promise(() => {}) }),
      part('c', story, { stop: () => Promise.reject(new Error('stuck')) }),
    ],
    (name, cause) => failures.push(`${name}: ${(cause as Error).message}`),
  )
  await life.start()
  await life.stop()
  assert.deepEqual(failures, ['c: stuck', 'b: still running after 20 ms'])
  assert.deepEqual(story, ['+a', '+b', '+c', '-a'])
})

test('stopping during the start ends it after the part that is starting', async () => {
  const story: string[] = []
  const slow = Promise.withResolvers<void>()
  const life = new Lifecycle([part('a', story, { start: () => slow.promise }), part('b', story)], unexpected)
  const started = life.start()
  await life.stop()
  slow.resolve()
  await started
  assert.equal(life.phase, 'stopped')
  assert.deepEqual(story, ['-a'])
})

test('a part that cannot start since it is being stopped is no failure', async () => {
  const story: string[] = []
  const slow = Promise.withResolvers<void>()
  const life = new Lifecycle(
    [
      part('a', story),
      part('b', story, { start: () => slow.promise, stop: () => slow.reject(new Error('cut short')) }),
    ],
    unexpected,
  )
  const started = life.start()
  await Promise.resolve()
  await life.stop()
  await started
  assert.deepEqual([life.phase, story], ['stopped', ['+a', '-a']])
})

test('stopping twice stops once', async () => {
  const story: string[] = []
  const life = new Lifecycle([part('a', story)], unexpected)
  await life.start()
  await Promise.all([life.stop(), life.stop()])
  assert.deepEqual(story, ['+a', '-a'])
})
