import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  parseMemory,
  readMemory,
  type Remembered,
  writeMemory,
} from '../../../src/process/store/store-memory.ts'
import { quickFolder } from '../../help/quick-folder.ts'

const hex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 32, maxLength: 32 })
const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 20 })
const memories: fc.Arbitrary<Remembered> = fc.record(
  {
    location: fc.string({ maxLength: 200 }),
    identity: hex,
    generation: fc.nat(),
    last: digits,
    isBehind: fc.boolean(),
  },
  { noNullPrototype: true },
)

const written = (memory: object) => `${JSON.stringify({ format: 1, ...memory })}\n`

test('what is written is read again, and leaves one file that only its owner may read', async t => {
  const path = join(quickFolder(t, 'memory'), 'data', 'store.json')
  assert.equal(await readMemory(path), null)
  for (const memory of fc.sample(memories, 20)) {
    await writeMemory(path, memory)
    assert.deepEqual(await readMemory(path), memory)
  }
  assert.deepEqual(readdirSync(dirname(path)), ['store.json'])
  assert.equal(statSync(path).mode & 0o777, 0o600)
})

test('whatever is in the file, it is read as it was written or not at all', () => {
  fc.assert(
    fc.property(memories, memory => {
      assert.deepEqual(parseMemory(written(memory)), memory)
    }),
  )
  const members = ['format', 'location', 'identity', 'generation', 'last', 'isBehind'] as const
  fc.assert(
    fc.property(memories, fc.constantFrom(...members), fc.jsonValue(), (memory, member, value) => {
      const whole = { format: 1, ...memory }
      const changed = { ...whole, [member]: value }
      const read = parseMemory(JSON.stringify(changed))
      if (read !== null) assert.equal(typeof value, typeof whole[member])
      const { [member]: _, ...without } = whole
      assert.equal(parseMemory(JSON.stringify(without)), null)
    }),
  )
  fc.assert(
    fc.property(memories, fc.nat(), (memory, at) => {
      const text = written(memory)
      // Cut off anywhere before the end of the object.
      assert.equal(parseMemory(text.slice(0, at % (text.length - 1))), null)
    }),
  )
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), text => void parseMemory(text)))
  for (const text of ['', 'null', '[]', '1', '{"__proto__":{"format":1}}'])
    assert.equal(parseMemory(text), null)
})

test('a file that is damaged is named in a sentence', async t => {
  const folder = quickFolder(t, 'memory')
  await assert.rejects(readMemory(folder), { message: `${folder} cannot be read (EISDIR)` })
})
