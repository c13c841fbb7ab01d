import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { type Format, negotiate, negotiateForPrograms } from '../../../src/errors/audience/negotiate.ts'
import { anyCharacter } from '../../help/any-text.ts'

const formats = ['html', 'json', 'problem', 'markdown', 'plain'] as const
const types: Readonly<Record<Format, string>> = {
  html: 'text/html',
  json: 'application/json',
  problem: 'application/problem+json',
  markdown: 'text/markdown',
  plain: 'text/plain',
}

function all(cases: readonly (readonly [accept: string, format: Format])[]): void {
  for (const [accept, format] of cases) assert.equal(negotiate(accept), format, accept)
}

test('no Accept means HTML', () => {
  assert.equal(negotiate(null), 'html')
  assert.equal(negotiate(''), 'html')
})

test('the table of the interface applies', () => {
  all([
    ['application/json', 'json'],
    ['application/problem+json', 'problem'],
    ['application/json, text/markdown;q=0.9', 'json'],
    ['text/markdown', 'markdown'],
    ['text/markdown, application/json', 'markdown'],
    ['text/*', 'markdown'],
    ['text/html', 'html'],
    ['*/*', 'html'],
  ])
})

test('plain text is for those who name it, and the last that a general range stands for', () => {
  all([
    ['text/plain', 'plain'],
    ['TEXT/Plain; charset=us-ascii', 'plain'],
    ['text/plain, text/html', 'plain'],
    ['text/plain, application/json;q=0.9', 'plain'],
    ['text/plain;q=0.5, */*;q=0.1', 'plain'],
    ['application/json, text/plain', 'json'],
    ['*/*, text/plain', 'html'],
    ['text/*, text/plain', 'markdown'],
    ['text/*, text/markdown;q=0, text/html;q=0', 'plain'],
    ['*/*, text/html;q=0, application/*;q=0, text/markdown;q=0', 'plain'],
    ['text/*, text/plain;q=0', 'markdown'],
    ['text/plain;q=0', 'html'],
  ])
  assert.equal(negotiateForPrograms('text/plain'), 'plain')
  assert.equal(negotiateForPrograms('text/plain, application/json'), 'plain')
  assert.equal(negotiateForPrograms('application/json, text/plain, */*'), 'json')
  assert.equal(negotiateForPrograms('*/*, application/*;q=0, text/markdown;q=0, text/html;q=0'), 'plain')
})

test('what browsers and tools send by default is understood', () => {
  all([
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', 'html'],
    ['application/json, text/plain, */*', 'json'],
    ['application/json, text/event-stream', 'json'],
    ['text/markdown, text/html;q=0.9, */*;q=0.1', 'markdown'],
    ['image/avif,image/webp,*/*;q=0.8', 'html'],
    ['text/event-stream', 'html'],
  ])
})

test('programs get JSON where they name none of the formats, or an event stream', () => {
  const cases: readonly (readonly [accept: string | null, format: Format])[] = [
    [null, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['text/event-stream', 'json'],
    ['text/event-stream;q=0.5, text/markdown;q=0.4', 'json'],
    ['text/event-stream;q=0.5, text/markdown', 'markdown'],
    ['text/event-stream, application/json;q=0', 'json'],
    ['*/*, text/event-stream;q=0', 'json'],
    ['text/event-stream;q=0, application/*', 'json'],
    ['application/*', 'json'],
    ['image/png', 'json'],
    ['*/*, application/json;q=0', 'problem'],
    ['text/*', 'markdown'],
    ['text/html', 'html'],
    ['text/html, */*;q=0.8', 'html'],
    ['application/problem+json', 'problem'],
  ]
  for (const [accept, format] of cases) assert.equal(negotiateForPrograms(accept), format, `${accept}`)
})

test('the higher q wins, in any position', () => {
  all([
    ['text/html;q=0.5, application/json;q=0.6', 'json'],
    ['application/json;q=0.001, text/markdown;q=0.002', 'markdown'],
    ['*/*;q=0.9, text/markdown', 'markdown'],
    ['text/*;q=0.3, application/*;q=0.4', 'json'],
  ])
})

test('on equal q the range listed first wins, specific or not', () => {
  all([
    ['application/json, text/html', 'json'],
    ['text/html, application/json', 'html'],
    ['*/*, application/json', 'html'],
    ['application/json, */*', 'json'],
    ['text/*, text/html', 'markdown'],
    ['application/*, application/problem+json', 'json'],
    ['application/problem+json;q=0.7, application/json;q=0.7', 'problem'],
  ])
})

test('a format whose own range ranks lower is passed over', () => {
  all([
    ['text/*;q=0.5, text/markdown;q=0', 'html'],
    ['text/*, text/markdown;q=0.9', 'html'],
    ['text/html;q=0.2, */*', 'json'],
    ['*/*, text/html;q=0', 'json'],
    ['*/*, text/html;q=0, application/json;q=0', 'markdown'],
    ['*/*, text/html;q=0, application/*;q=0', 'markdown'],
    ['*/*, text/*;q=0.1', 'json'],
    ['application/*, application/json;q=0.5', 'problem'],
  ])
})

test('a general range does not revive what a specific one refuses', () => {
  all([
    ['*/*, text/*;q=0, application/*;q=0', 'html'],
    ['text/html;q=0', 'html'],
    ['text/html;q=0, text/markdown;q=0.1', 'markdown'],
    ['*/*;q=0, application/json', 'json'],
  ])
})

test('parameters are ignored and names are case-insensitive', () => {
  all([
    ['application/json; charset=utf-8', 'json'],
    ['application/json;profile="https://example.com/a,b;q=0";q=0.5, text/html;q=0.4', 'json'],
    ['Application/JSON', 'json'],
    ['TEXT/MarkDown;Q=0.9, text/html;q=0.8', 'markdown'],
    ['application/problem+json;x="\\"", text/html;q=0.9', 'problem'],
    ['text/markdown;variant=GFM;q=0.4;ext, application/json;q=0.3', 'markdown'],
    ['application/json ; q=0.3\t,\ttext/markdown ; q=0.4', 'markdown'],
    ['application/json;;q=0.9;, text/html;q=0.8', 'json'],
  ])
})

test('several Accept lines are one list', () => {
  assert.equal(negotiate(['text/html;q=0.5', 'application/json'].join(', ')), 'json')
})

test('a malformed member is skipped', () => {
  all([
    ['application/json;q=2, text/markdown;q=0.1', 'markdown'],
    ['application/json;q=1.001, text/markdown;q=0.1', 'markdown'],
    ['application/json;q=-1, text/markdown;q=0.1', 'markdown'],
    ['application/json;q=0.1234, text/markdown;q=0.1', 'markdown'],
    ['application/json;q=high, text/markdown;q=0.1', 'markdown'],
    ['application/json;q="1", text/markdown;q=0.1', 'markdown'],
    ['application/json;q, text/markdown;q=0.1', 'markdown'],
    ['application / json, text/markdown;q=0.1', 'markdown'],
    ['application/json foo, text/markdown;q=0.1', 'markdown'],
    ['json, */json, , ,text/markdown', 'markdown'],
    ['application/json;x="never closed, text/markdown;q=0.1', 'markdown'],
  ])
})

test('the higher q of a range that is listed twice counts, and the first of equal ones', () => {
  all([
    ['application/json, text/html, application/json', 'json'],
    ['application/json;q=0.2, text/html;q=0.5, application/json', 'json'],
    ['application/json;q=0.8, text/html;q=0.5, application/json;q=0', 'json'],
  ])
})

const weight = fc.integer({ min: 0, max: 1000 }).map(n => n / 1000)
const range = fc.constantFrom(
  ...Object.values(types),
  '*/*',
  'text/*',
  'application/*',
  'image/png',
  'text/css',
)
const member = fc.tuple(range, weight).map(([range, q]) => `${range};q=${q}`)
const list = fc.array(member, { maxLength: 8 })
const malformed = fc.constantFrom(
  'text/markdown;q=9',
  'a b',
  'application/json;q=',
  '/',
  ';q=1',
  '"',
  '*',
  'text/html;x="',
)

test('any text at all gets a format', () => {
  const noise = fc.array(fc.oneof(member, malformed, fc.string({ unit: anyCharacter })), { maxLength: 10 })
  fc.assert(fc.property(noise, parts => assert.ok(formats.includes(negotiate(parts.join(','))))))
})

test('among plain types the highest q wins, and the first of equals', () => {
  const plain = fc.uniqueArray(fc.tuple(fc.constantFrom(...formats), weight), {
    minLength: 1,
    selector: ([format]) => format,
  })
  fc.assert(
    fc.property(plain, choices => {
      const accept = choices.map(([format, q]) => `${types[format]};q=${q}`).join(', ')
      const acceptable = choices.filter(([, q]) => q > 0)
      const best = Math.max(...acceptable.map(([, q]) => q))
      assert.equal(negotiate(accept), acceptable.find(([, q]) => q === best)?.[0] ?? 'html')
    }),
  )
})

test('a malformed member never changes what the others say', () => {
  fc.assert(
    fc.property(list, malformed, fc.nat(8), (members, noise, at) => {
      assert.equal(negotiate(members.toSpliced(at, 0, noise).join(',')), negotiate(members.join(',')))
    }),
  )
})

test('case, space and parameters never change the choice', () => {
  fc.assert(
    fc.property(list, members => {
      const dressed = members.map(text => ` ${text.toUpperCase().replace(';', ' ; level="1,2" ; ')}\t`)
      assert.equal(negotiate(dressed.join(',')), negotiate(members.join(',')))
    }),
  )
})

test('a format that is chosen is acceptable whenever one is', () => {
  const qualityOf = (type: string, members: readonly string[]) => {
    const [group] = type.split('/')
    const own = [type, `${group}/*`, '*/*'].map(range =>
      members.filter(member => member.startsWith(`${range};`)).map(member => Number(member.split('=')[1])),
    )
    return Math.max(0, ...(own.find(weights => weights.length > 0) ?? []))
  }
  fc.assert(
    fc.property(list, members => {
      const best = Math.max(...formats.map(format => qualityOf(types[format], members)))
      const chosen = qualityOf(types[negotiate(members.join(','))], members)
      assert.equal(chosen, best)
    }),
  )
})

test('an Accept is read up to its last comma within 4 KiB', () => {
  const filledTo = (size: number, end: string) =>
    `text/markdown;q=0.1,${',a/b'.repeat(size)}`.slice(0, size - end.length) + end
  const end = ',application/json'
  assert.equal(negotiate(filledTo(4096, end)), 'json')
  assert.equal(negotiate(`${filledTo(4096, end)},text/html`), 'json')
  assert.equal(negotiate(`${filledTo(4096, end)};q=0`), 'markdown', 'half a member is none')
  assert.equal(negotiate(filledTo(4097, end)), 'markdown')
  assert.equal(negotiate(filledTo(120_000, end)), 'markdown')
  assert.equal(negotiate(`application/json;x="${'x'.repeat(4096)}"`), 'html')
})

test('whatever clients accept, what is remembered of it stays small', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  const before = process.memoryUsage().heapUsed
  for (let i = 0; i < 60_000; i++) {
    const accept = `text/html;v="${String(i).padStart(200, '-')}"`
    assert.equal(negotiate(accept), 'html')
    assert.equal(negotiateForPrograms(accept), 'html')
  }
  for (let i = 0; i < 300; i++)
    assert.equal(negotiate(`text/html;v="${String(i).padStart(100_000, '-')}"`), 'html')
  collect()
  const grown = process.memoryUsage().heapUsed - before
  assert.ok(grown < 4_000_000, `${grown} bytes`)
})

test('an Accept of the size of a whole header section causes no delay', () => {
  const size = 128 * 1024
  for (const part of [
    '*/*,',
    'text/html;q=0.5,',
    '"',
    '"\\',
    'a/b;x="',
    ' ;',
    ',',
    'text/html; ; ; ;',
    'a/b;q=1;',
  ]) {
    assert.ok(formats.includes(negotiate(part.repeat(size / part.length))))
  }
})
