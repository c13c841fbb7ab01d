// The corpora of the fuzzers, run through what each parser promises.

import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Attempts } from './engine/attempts.ts'
import { maxCorpus, readInputs } from './engine/corpus-file.ts'
import { targetNamed, targetNames } from './targets.ts'

const corpora = join(import.meta.dirname, 'corpus')

for (const name of targetNames)
  test(`inputs that reach all of ${name} break no promise`, async () => {
    const inputs = readInputs(join(corpora, `${name}.txt`))
    assert.ok(inputs.length > 1)
    const attempts = new Attempts(await targetNamed(name))
    assert.deepEqual(
      inputs.flatMap(input => attempts.all([input]).map(({ detail }) => detail)),
      [],
    )
  })

test('each corpus has its target, and stays small', () => {
  const files = readdirSync(corpora)
  assert.deepEqual(files.sort(), targetNames.map(name => `${name}.txt`).sort())
  // An escape takes four bytes.
  for (const file of files) assert.ok(statSync(join(corpora, file)).size <= 4 * maxCorpus, file)
})
