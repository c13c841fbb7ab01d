import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { digestWith, hasDigest, readPhc, writePhc } from '../../../src/people/passwords/argon2.ts'
import { cheap } from '../cheap.ts'

test('a digest that another program has made is understood', async () => {
  // By the reference implementation: argon2 somesaltsomesalt -id -t 2 -m 12 -p 1 -l 32 -e
  const made =
    '$argon2id$v=19$m=4096,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$rH1Ybulj29NGEEGtGp+nrIox7PycWy6oL06PCmfvSNI'
  const digest = readPhc(made)!
  assert.equal(await hasDigest('correct horse battery', digest), true)
  assert.equal(await hasDigest('correct horse batterx', digest), false)
  const cost = { memory: 4_096, passes: 2, parallelism: 1 }
  assert.equal(writePhc(await digestWith('correct horse battery', cost, digest.salt)), made)
})

test('every digest is read as it was written', () => {
  const bytes = fc.uint8Array({ minLength: 16, maxLength: 64 }).map(array => Buffer.from(array))
  const digests = fc.record({
    memory: fc.integer({ min: 64, max: 262_144 }),
    passes: fc.integer({ min: 1, max: 16 }),
    parallelism: fc.integer({ min: 1, max: 8 }),
    salt: bytes,
    digest: bytes,
  })
  fc.assert(fc.property(digests, digest => assert.deepEqual({ ...readPhc(writePhc(digest)) }, { ...digest })))
})

test('what is no digest of ours, or would cost too much, is not read', () => {
  const text = writePhc({ ...cheap, salt: Buffer.alloc(16), digest: Buffer.alloc(32) })
  for (const [from, to] of [
    ['argon2id', 'argon2i'],
    ['v=19', 'v=16'],
    ['m=64', 'm=7'],
    ['m=64', 'm=262145'],
    ['t=1', 't=0'],
    ['t=1', 't=17'],
    ['p=1', 'p=9'],
    ['p=1', 'p=1,x=1'],
    ['AAAAAAAAAAAAAAAAAAAAAA$', 'AAAAAAAAAAAAAAA$'],
    ['AAAAAAAAAAAAAAAAAAAAAA$', 'AAAAAAAAAAAAAAAAAAAA$'],
    ['AAAAAAAAAAAAAAAAAAAAAA$', `${'A'.repeat(87)}$`],
    ['p=1', 'p=9'],
  ] as const)
    assert.equal(readPhc(text.replace(from, to)), null, to)
  fc.assert(fc.property(fc.string(), text => assert.equal(readPhc(text), null)))
})
