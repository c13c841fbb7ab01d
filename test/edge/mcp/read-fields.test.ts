import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { fieldsOf } from '../../../src/edge/mcp/read-fields.ts'
import { RequestHead } from '../../../src/http1/heads/request-head.ts'

const names = [
  'MCP-Protocol-Version',
  'Mcp-Method',
  'Mcp-Name',
  'Mcp-Session-Id',
  'Origin',
  'Content-Type',
  'Content-Encoding',
]

function headWith(fields: readonly (readonly [string, string])[]): RequestHead {
  return Object.assign(new RequestHead(), { fields: fields.flat() })
}

/** Spells a name in cases and separators of its own. */
const spelled = fc
  .tuple(fc.constantFrom(...names), fc.constantFrom('-', '_', '.', ' '), fc.boolean())
  .map(([name, separator, isLoud]) => name.replaceAll('-', separator)[isLoud ? 'toUpperCase' : 'toString']())

test('whatever the fields are, each is read once and in its own spelling, or named as what cannot be read', () => {
  const field = fc.tuple(
    fc.oneof(spelled, fc.constant('Mcp-Param-A'), fc.constant('X-Mcp-Name')),
    fc.string(),
  )
  fc.assert(
    fc.property(fc.array(field, { maxLength: 8 }), fields => {
      const read = fieldsOf(headWith(fields))
      const known = fields.filter(([name]) => names.some(one => one.toLowerCase() === alike(name)))
      if (typeof read === 'string') {
        const culprits = known.filter(([name]) => alike(name) === read)
        return culprits.length > 1 || culprits[0]![0].toLowerCase() !== read
      }
      const values = Object.values(read).filter(value => value !== null)
      return values.length === known.length && known.every(([, value]) => values.includes(value))
    }),
  )
})

function alike(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')
}

test('fields that were not sent are null', () => {
  const fields = [
    ['mcp-name', 'a'],
    ['Accept', 'b'],
  ] as const
  const none = { version: null, method: null, session: null, origin: null, contentType: null }
  assert.deepEqual(fieldsOf(headWith(fields)), { ...none, contentEncoding: null, name: 'a' })
})
