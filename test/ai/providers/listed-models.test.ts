import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readModels } from '../../../src/ai/providers/listed-models.ts'

const read = (value: unknown) => readModels(Buffer.from(JSON.stringify(value)))

test('models are read in the shapes of OpenAI, Anthropic and Google', () => {
  deepEqual(
    read({
      data: [
        { id: 'a', created: 5 },
        { id: 'a' },
        { id: 'models/b', created_at: '1970-01-01T00:00:09Z', display_name: 'B' },
      ],
    }),
    [
      { id: 'a', displayName: 'a', created: 5 },
      { id: 'b', displayName: 'B', created: 9 },
    ],
  )
  equal(read([]), null)
  equal(readModels(Buffer.from('<html>')), null)
})

test('whatever a provider lists, the models can be written as field values and dates', () => {
  const item = fc.record(
    {
      id: fc.oneof(fc.string(), fc.jsonValue()),
      created: fc.jsonValue(),
      created_at: fc.oneof(fc.string(), fc.jsonValue()),
      display_name: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(item, fc.jsonValue())), data => {
      for (const { id, created } of read({ data })!) {
        ok(/^[!-~]{1,256}$/.test(id))
        ok(new Date(created * 1000).toISOString().length === 24)
      }
    }),
  )
})
