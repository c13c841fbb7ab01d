import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ErrorName } from '../../../src/errors/catalogue/catalogue.ts'
import { problem } from '../../../src/errors/catalogue/problem.ts'
import { type Refusal, refuse } from '../../../src/errors/catalogue/refusal.ts'
import { renderPlain } from '../../../src/errors/render/plain.ts'
import { anyCharacter } from '../../help/any-text.ts'
import { root } from '../../help/source.ts'

function plainOf(refusal: Refusal): string {
  const origin = 'https://www.example.com'
  const occasion = {
    ray: '8f3c1e0a9b7d2c46',
    zone: 'www.example.com',
    origin,
    accept: null,
    time: 1_790_000_000_000,
  }
  return renderPlain(problem(refusal, occasion, null))
}

test('the text begins with what happened, and ends with the fields, one a line', () => {
  const names: readonly ErrorName[] = ['origin_down', 'rate_limited', 'not_found', 'legal_block']
  const texts = names.map(name => plainOf(refuse(name)))
  assert.equal(texts.join('\n'), readFileSync(join(root, 'test/golden/errors-plain.txt'), 'utf8'))
})

test('nothing that a detail quotes adds a line, or moves the cursor', () => {
  const usual = plainOf(refuse('bad_request')).split('\n').length
  const wordings = fc.record({
    heading: fc.constant('Bad request'),
    detail: fc.string({ unit: anyCharacter }),
    guidance: fc.string({ unit: anyCharacter }),
    isOfRequest: fc.constant(true),
  })
  fc.assert(
    fc.property(wordings, wording => {
      const text = plainOf(refuse('bad_request', { wording }))
      assert.match(text, /^[\n\x20-\x7e]*$/)
      assert.equal(text.split('\n').length, usual)
    }),
  )
  const forged = 'no such path\nstatus: 200\u001b[2K\u202e'
  const wording = { heading: 'Bad request', detail: forged, guidance: '', isOfRequest: true }
  assert.ok(
    plainOf(refuse('bad_request', { wording })).includes(
      '\nno such path\\u000astatus: 200\\u001b[2K\\u202e\n',
    ),
  )
})
