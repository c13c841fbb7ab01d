// The schema to which the shipped configurations refer is the one that the code and their comments make. WRITE_DOCS=1 writes it anew.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { jsonSchema } from '../../src/config/load/json-schema.ts'
import { root } from '../help/source.ts'

test('config/gatehouse.schema.json is of the settings as they are', () => {
  const path = join(root, 'config/gatehouse.schema.json')
  const schema = jsonSchema(readFileSync(join(root, 'config/gatehouse.yaml'), 'utf8'))
  const written = `${JSON.stringify(schema, null, 2)}\n`
  if (process.env.WRITE_DOCS) writeFileSync(path, written)
  const isEqual = readFileSync(path, 'utf8') === written
  assert.ok(isEqual, 'it is older: WRITE_DOCS=1 node --test test/house/schema.test.ts writes it anew')
})
