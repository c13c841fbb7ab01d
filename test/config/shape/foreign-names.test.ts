import assert from 'node:assert/strict'
import { test } from 'node:test'
import { knownElsewhere } from '../../../src/config/shape/foreign-names.ts'
import { placesOf } from '../../../src/config/shape/setting-places.ts'
import { schema } from '../../../src/config/settings/schema.ts'
import { hintFor, refersOtherwise } from '../../../src/config/shape/value-hints.ts'

test('a name of another gateway leads to the setting that means the same there', () => {
  assert.equal(knownElsewhere('proxy_pass', ['path', 'pool']), 'pool')
  assert.equal(knownElsewhere('Proxy-Pass', ['path', 'pool']), 'pool')
  assert.equal(knownElsewhere('servers', ['origins', 'balance']), 'origins')
  assert.equal(knownElsewhere('servers', ['zones', 'pools']), 'zones')
  assert.equal(knownElsewhere('timeout', ['hosts', 'routes']), 'routes[].timeouts')
  assert.equal(knownElsewhere('proxy_pass', ['name']), null)
  assert.equal(knownElsewhere('constructor', ['zones']), null)
})

test('a setting is found wherever it may be', () => {
  assert.deepEqual(placesOf('retries', schema.form()), ['ai.models.NAME[].retries', 'pools.NAME.retries'])
  assert.deepEqual(placesOf('slow_start', schema.form()), ['pools.NAME.slow_start'])
  assert.deepEqual(placesOf('redirects', schema.form()), ['zones[].routes[].redirects'])
  assert.deepEqual(placesOf('nothing', schema.form()), [])
})

test('settings are found at once for a file with many mistakes', () => {
  const { user } = process.threadCpuUsage()
  for (let i = 0; i < 1_000; i++) placesOf('hs', schema.form())
  const spent = (process.threadCpuUsage().user - user) / 1_000
  assert.ok(spent < 200, `${spent} ms`)
})

test('variables are recognized as other tools write them, and no key is', () => {
  for (const text of ['$KEY', 'os.environ/KEY', '{env.KEY}', 'env:KEY', '$(KEY)', '%KEY%', '{$KEY}'])
    assert.equal(refersOtherwise(text), true, text)
  for (const text of ['sk-proj-1234', `\${KEY}`, 'KEY', 'a$b', '$2b$10$abc', 'environment'])
    assert.equal(refersOtherwise(text), false, text)
})

test('a hint repeats the parts of a text that its form names', () => {
  assert.equal(hintFor('a 1', [[/^(\w) (\d)$/, 'write $2 or $1']]), '; write 1 or a')
  assert.equal(hintFor('b', [[/^(\w) (\d)$/, 'write $2 or $1']]), '')
  assert.equal(hintFor('$A', [[/A/, 'write B']]), `; a variable is written as \${NAME}`)
})
