import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readTxtReply, writeTxtQuestion } from '../../src/domains/txt-message.ts'

const host = 'app.svc.test'
const id = 0x1234

/** Labels, of which each may hold anything; a number is where a pointer leads. */
type Name = string | readonly (string | number)[]

function nameOf(name: Name): Buffer {
  const labels = typeof name === 'string' ? name.split('.') : name
  const parts = labels.map(label =>
    typeof label === 'number'
      ? Buffer.of(0xc0 | (label >> 8), label & 0xff)
      : Buffer.concat([Buffer.of(label.length), Buffer.from(label, 'latin1')]),
  )
  const isOpen = typeof labels.at(-1) !== 'number'
  return Buffer.concat([...parts, Buffer.alloc(isOpen ? 1 : 0)])
}

function record(owner: Name, type: number, data: Buffer, kind = 1): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(kind, 2)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([nameOf(owner), fixed, data])
}

const txt = (owner: Name, ...chunks: string[]) =>
  record(
    owner,
    16,
    Buffer.concat(chunks.map(c => Buffer.concat([Buffer.of(c.length), Buffer.from(c, 'latin1')]))),
  )
const cname = (owner: Name, target: Name) => record(owner, 5, nameOf(target))

interface Head {
  readonly id?: number
  readonly flags?: number
  readonly questions?: number
  readonly name?: Name
  readonly type?: number
  readonly kind?: number
}

function reply(records: readonly Buffer[], head: Head = {}): Buffer {
  const { flags = 0x81_80, questions = 1, name = host, type = 16, kind = 1 } = head
  const start = Buffer.alloc(12)
  start.writeUInt16BE(head.id ?? id, 0)
  start.writeUInt16BE(flags, 2)
  start.writeUInt16BE(questions, 4)
  start.writeUInt16BE(records.length, 6)
  const question = Buffer.concat([nameOf(name), Buffer.of(type >> 8, type & 0xff, kind >> 8, kind & 0xff)])
  return Buffer.concat([start, ...(questions === 1 ? [question] : []), ...records])
}

const textsIn = (records: readonly Buffer[], head?: Head) => {
  const found = readTxtReply(reply(records, head), id, host)
  return found?.kind === 'records' ? found.texts : (found?.kind ?? null)
}

test('a record counts if its owner is the name that was asked, or where names in the reply lead from there', () => {
  assert.deepEqual(textsIn([txt(host, 'a', 'b'), txt(host, '')]), ['ab', ''])
  assert.deepEqual(textsIn([txt('APP.svc.TEST', 'a')]), ['a'])
  assert.deepEqual(textsIn([txt([12], 'a')]), ['a'])
  assert.deepEqual(textsIn([txt(['app', 16], 'a')]), ['a'])
  const chain = [cname(host, 'one.test'), cname('ONE.test', 'two.test')]
  assert.deepEqual(textsIn([...chain, txt('two.test', 'a')]), ['a'])
  assert.deepEqual(textsIn([txt('two.test', 'a'), ...chain.toReversed()]), ['a'])
})

test('a record of any other name counts for nothing', () => {
  for (const owner of [
    'evil.test',
    'svc.test',
    'x.app.svc.test',
    'appsvc.test',
    ['app.svc', 'test'],
    ['app.svc.test'],
    [],
  ])
    assert.deepEqual(textsIn([txt(owner, 'a')]), [], String(owner))
  assert.deepEqual(textsIn([cname('evil.test', host), txt('evil.test', 'a')]), [])
  assert.deepEqual(textsIn([cname(host, 'one.test'), txt('two.test', 'a')]), [])
  assert.deepEqual(textsIn([cname(host, 'one.test'), cname(host, 'evil.test'), txt('evil.test', 'a')]), [])
  assert.deepEqual(textsIn([record(host, 5, nameOf('one.test'), 3), txt('one.test', 'a')]), [])
  assert.deepEqual(textsIn([record(host, 16, Buffer.from('\x01a'), 3)]), [])
  assert.deepEqual(textsIn([record(host, 1, Buffer.of(127, 0, 0, 1)), txt(host, 'a')]), ['a'])
})

test('names that lead in a circle, or on and on, come to an end', () => {
  assert.deepEqual(textsIn([cname(host, host), txt(host, 'a')]), ['a'])
  assert.deepEqual(textsIn([cname(host, 'b.test'), cname('b.test', host), txt('b.test', 'a')]), ['a'])
  const names = Array.from({ length: 40 }, (_, i) => (i === 0 ? host : `n${i}.test`))
  const chain = names.slice(1).map((name, i) => cname(names[i]!, name))
  assert.deepEqual(textsIn([...chain, txt('n16.test', 'near')]), ['near'])
  assert.deepEqual(textsIn([...chain, txt('n39.test', 'far')]), [])
})

test('what is no reply to the question is none at all', () => {
  const others: readonly Head[] = [
    { id: id + 1 },
    { flags: 0x01_00 },
    { flags: 0x81_80 | 0x28_00 },
    { questions: 0 },
    { questions: 2 },
    { name: 'evil.test' },
    { name: ['app.svc', 'test'] },
    { type: 1 },
    { kind: 3 },
  ]
  for (const head of others) assert.equal(textsIn([txt(host, 'a')], head), null, JSON.stringify(head))
  const whole = reply([cname(host, 'one.test'), txt(['one', 'test'], 'abc')])
  for (let length = 0; length < whole.length; length++)
    assert.equal(readTxtReply(whole.subarray(0, length), id, host), null, String(length))
  const damaged = [
    txt([200], 'a'),
    // Itself, and what comes after it.
    txt([56], 'a'),
    txt([60], 'a'),
    txt([5], 'a'),
    record(host, 16, Buffer.from('\x05a')),
    record(host, 5, Buffer.concat([nameOf('one.test'), Buffer.alloc(1)])),
    record(host, 5, Buffer.from('\x04one\0')),
    Buffer.concat([Buffer.of(0x40), txt(host, 'a')]),
    txt(
      Array.from({ length: 9 }, () => 'x'.repeat(31)),
      'a',
    ),
  ]
  for (const one of damaged) assert.equal(textsIn([txt(host, 'a'), one]), null, one.toString('hex'))
})

test('failures and replies that do not fit are told apart', () => {
  const kinds = ['records', 'format_error', 'server_failure', 'no_such_name', 'other', 'refused', 'other']
  for (const [code, kind] of kinds.entries())
    assert.equal(readTxtReply(reply([], { flags: 0x81_80 | code }), id, host)?.kind, kind)
  assert.equal(textsIn([], { flags: 0x83_80 }), 'truncated')
  assert.equal(textsIn([], { flags: 0x81_81, questions: 0 }), 'format_error')
})

test('a question is one for the texts of the host, with recursion', () => {
  const plain = writeTxtQuestion(id, 'App.svc.test', false)
  assert.equal(plain.toString('hex'), `12340100000100000000000003617070037376630474657374000010${'0001'}`)
  const extended = writeTxtQuestion(id, 'App.svc.test', true)
  assert.equal(extended.readUInt16BE(10), 1)
  assert.equal(extended.subarray(plain.length).toString('hex'), '00002904d0000000000000')
})

test('whatever comes, it is a reply or none, and no other name proves anything', () => {
  const bytes = fc.uint8Array({ maxLength: 200 })
  fc.assert(
    fc.property(bytes, rest => {
      for (const message of [Buffer.from(rest), Buffer.concat([reply([]).subarray(0, 12), rest])])
        readTxtReply(message, id, host)
      const start = reply([]).fill(0xff, 6, 8)
      readTxtReply(Buffer.concat([start, rest]), id, host)
    }),
    { numRuns: 2_000 },
  )
  const label = fc.constantFrom('app', 'svc', 'test', 'APP', 'app.svc', 'evil', 'x')
  const name = fc.oneof(fc.constant(host), fc.array(fc.oneof(label, fc.nat(80)), { maxLength: 4 }))
  const one = fc.oneof(
    fc.tuple(name, name).map(([owner, target]) => cname(owner, target)),
    fc.tuple(name, fc.string({ maxLength: 20 })).map(([owner, text]) => txt(owner, text)),
  )
  const damage = fc.tuple(fc.nat(400), fc.nat(255))
  fc.assert(
    fc.property(fc.array(one, { maxLength: 8 }), fc.array(damage, { maxLength: 4 }), (records, places) => {
      const message = reply(records)
      for (const [at, byte] of places) message[at % message.length] = byte
      const found = readTxtReply(message, id, host)
      if (found?.kind === 'records') assert.ok(found.texts.length <= message.readUInt16BE(6))
    }),
    { numRuns: 2_000 },
  )
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 20 }), { minLength: 1, maxLength: 5 }), texts => {
      const foreign = texts.flatMap((text, i) => [txt(`e${i}.test`, text), cname(`e${i}.test`, host)])
      assert.deepEqual(textsIn(foreign), [])
    }),
  )
})
