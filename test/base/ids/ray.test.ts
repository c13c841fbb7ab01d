import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { nextRay } from '../../../src/base/ids/ray.ts'

const form = /^[0-9a-f]{16}$/

test('ray ids have 16 lower-case hex digits and do not repeat over many batches', () => {
  const rays = new Set<string>()
  for (let i = 0; i < 5000; i++) rays.add(nextRay())
  assert.equal(rays.size, 5000)
  assert.ok([...rays].every(ray => form.test(ray)))
})

test('two processes do not draw the same ids', () => {
  const source = `import { nextRay } from '${new URL('../../../src/base/ids/ray.ts', import.meta.url)}'; process.stdout.write(nextRay())`
  const draw = () =>
    execFileSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' })
  const [first, second] = [draw(), draw()]
  assert.match(first, form)
  assert.notEqual(first, second)
})
