// The schema of the access log in the docs, against lines of real requests.

import { deepEqual, equal } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { startEdge } from '../help/edge.ts'
import { deadOrigin, ok, startResponder } from '../help/origin.ts'
import { post, request } from '../help/raw.ts'
import { root } from '../help/source.ts'

const schema = JSON.parse(readFileSync(join(root, 'docs/access-log.schema.json'), 'utf8'))

test('each line is as the docs describe it, and has no other field', async t => {
  const isLine = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema)
  const origin = await startResponder(t, () => ok('hello'))
  const edge = await startEdge(t, [origin.url])
  await edge.ask(request('GET /a?b=c'))
  await edge.ask(post('/', 'body'))
  await edge.ask('GET / HTTP/1.1\r\nHost: other.test\r\n\r\n')
  await edge.ask('GET / HTTP/1.0\r\n\r\n')
  const failing = await startEdge(t, [deadOrigin().url])
  await failing.ask(request('GET /'))
  const lines = [...edge.accesses, ...failing.accesses]
  equal(lines.length, 5)
  for (const line of lines) {
    isLine(line)
    deepEqual(isLine.errors, null, JSON.stringify(line))
    deepEqual(Object.keys(line), schema.required)
  }
  const [line] = lines
  equal(isLine({ ...line, cookie: 'x' }), false)
  equal(isLine({ ...line, status: '200' }), false)
})
