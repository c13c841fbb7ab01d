import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { isRay, nextRay } from '../../src/base/ray.ts'

test('ray ids have 16 lower-case hex digits and do not repeat over many batches', () => {
  const rays = new Set<string>()
  for (let i = 0; i < 5000; i++) rays.add(nextRay())
  assert.equal(rays.size, 5000)
  assert.ok([...rays].every(isRay))
})

test('two processes do not draw the same ids', () => {
  const source = `import { nextRay } from '${new URL('../../src/base/ray.ts', import.meta.url)}'; process.stdout.write(nextRay())`
  const draw = () =>
    execFileSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' })
  const [first, second] = [draw(), draw()]
  assert.ok(isRay(first))
  assert.notEqual(first, second)
})

test('what is longer, shorter, upper-case or not hex is no ray id', () => {
  for (const text of [
    '',
    '0123456789abcde',
    '0123456789abcdef0',
    '0123456789ABCDEF',
    '0123456789abcdeg',
    '0123456789abcdef\n',
  ])
    assert.equal(isRay(text), false, JSON.stringify(text))
})
