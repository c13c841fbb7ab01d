import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { anyCharacter } from '../../help/any-text.ts'
import { readVerdict } from '../../../src/guard/webhook/verdict.ts'

const texts = ['one', 'two']

test('a verdict is read with its names and the texts that change', () => {
  const read = (verdict: object) => readVerdict(JSON.stringify(verdict), texts)
  assert.deepEqual(read({ verdict: 'allow' }), { kind: 'allow' })
  assert.deepEqual(read({ verdict: 'flag', findings: [] }), { kind: 'flag', names: ['webhook'] })
  assert.deepEqual(read({ verdict: 'block', findings: ['pii', 'pii', 'tone'] }), {
    kind: 'block',
    names: ['webhook:pii', 'webhook:tone'],
  })
  assert.deepEqual(read({ verdict: 'replace', texts: ['one', 'TWO'] }), {
    kind: 'replace',
    names: ['webhook'],
    texts: new Map([['two', 'TWO']]),
  })
})

test('a lie is no verdict', () => {
  for (const lie of [
    '',
    'allow',
    '"allow"',
    '[{"verdict": "allow"}]',
    '{"verdict": "allow"',
    '{"verdict": "allow"}{}',
    '{"verdict": "ALLOW"}',
    '{"verdict": ["allow"]}',
    '{"verdict": true}',
    '{"verdict": "allow", "findings": "pii"}',
    '{"verdict": "flag", "findings": ["4111 1111 1111 1111"]}',
    '{"verdict": "flag", "findings": ["a\\r\\nb"]}',
    '{"verdict": "replace"}',
    '{"verdict": "replace", "texts": ["one"]}',
    '{"verdict": "replace", "texts": ["one", 2]}',
    '{"verdict": "replace", "texts": ["one", "\\ud800"]}',
    '{"__proto__": {"verdict": "allow"}}',
  ])
    assert.equal(readVerdict(lie, texts), null, lie)
})

test('whatever a webhook says is read as one of its verdicts, or as none', () => {
  const verdict = fc.record(
    {
      verdict: fc.oneof(fc.constantFrom('allow', 'flag', 'block', 'replace'), fc.jsonValue()),
      findings: fc.oneof(fc.array(fc.stringMatching(/^[a-z][a-z0-9_.-]{0,40}$/)), fc.jsonValue()),
      texts: fc.oneof(fc.array(fc.string({ unit: anyCharacter }), { maxLength: 3 }), fc.jsonValue()),
    },
    { requiredKeys: [] },
  )
  const json = fc.oneof(
    verdict.map(value => JSON.stringify(value)),
    fc.json(),
    fc.string(),
  )
  fc.assert(
    fc.property(json, json => {
      const read = readVerdict(json, texts)
      if (read === null) return
      assert.equal(read.kind, JSON.parse(json).verdict)
      if (read.kind === 'allow') return
      assert.ok(read.names.length > 0)
      for (const name of read.names) assert.match(name, /^webhook(?::[a-z][a-z0-9_.-]{0,31})?$/)
      if (read.kind === 'replace')
        for (const [from, to] of read.texts)
          assert.ok(texts.includes(from) && to !== from && to.isWellFormed())
    }),
    { numRuns: 300 },
  )
})
