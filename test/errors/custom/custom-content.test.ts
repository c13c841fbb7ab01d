import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parse } from 'yaml'
import { type ErrorContentType, errorContentTypes } from '../../../src/config/model/custom-errors-config.ts'
import { type ContentKind, CustomContent } from '../../../src/errors/custom/custom-content.ts'
import { type ErrorName, errorRows } from '../../../src/errors/catalogue/catalogue.ts'
import { refuse } from '../../../src/errors/catalogue/refusal.ts'
import { anyCharacter } from '../../help/any-text.ts'
import { factsFor } from '../../help/custom-errors.ts'

const occasion = { ray: '8f3c1e0a9b7d2c46', zone: 'site.test', accept: null, time: 1_790_000_000_000 }

interface Filling {
  readonly type?: ErrorContentType
  readonly kind?: ContentKind
  readonly error?: ErrorName
  readonly ip?: string
  readonly country?: string
}

/** Fills in a content, and decodes it as a client would. */
function fill(content: string, filling: Filling = {}): string {
  const {
    type = 'text/plain',
    kind = 'rule',
    error = 'origin_down',
    ip = '192.0.2.7',
    country = 'NZ',
  } = filling
  const facts = factsFor(error, { ip, country })
  const bytes = new CustomContent(kind, content, type, null).fill(refuse(error), occasion, facts)
  assert.match(bytes, /^[\0-\xff]*$/)
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

test('every token is filled in, in any place and number', () => {
  assert.equal(
    fill('::RAY_ID::::RAY_ID:: ip=::CLIENT_IP:: in ::GEO::'),
    '8f3c1e0a9b7d2c468f3c1e0a9b7d2c46 ip=192.0.2.7 in NZ',
  )
  assert.equal(fill('[::GEO::]', { country: '' }), '[]')
})

test('anything but a token stays as it is', () => {
  for (const text of [
    '',
    '::ray_id::',
    '::RAY_ID:',
    ':: RAY_ID ::',
    '::SVC_ERROR_500S_BOX::',
    '$& $1 \\',
    '🙇 é',
  ])
    assert.equal(fill(text), text)
})

test('the type has a charset where it needs one', () => {
  assert.deepEqual(
    errorContentTypes.map(type => new CustomContent('rule', '', type, null).type),
    [
      'application/json',
      'application/problem+json',
      'text/markdown; charset=utf-8',
      'text/html; charset=utf-8',
      'text/plain; charset=utf-8',
      'text/xml; charset=utf-8',
    ],
  )
})

test('any content comes out as its own bytes, each token by its value', () => {
  const piece = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('::CLIENT_IP::', '::RAY_ID::', '::GEO::', ':', '::', 'RAY_ID', '\ud800'),
  )
  fc.assert(
    fc.property(fc.array(piece), fc.constantFrom(...errorContentTypes), (pieces, type) => {
      const content = pieces.join('').replaceAll('_BOX::', '')
      const values = content.split(/(::CLIENT_IP::|::RAY_ID::|::GEO::)/).map(piece => {
        if (piece === '::CLIENT_IP::') return '192.0.2.7'
        return piece === '::RAY_ID::' ? occasion.ray : piece === '::GEO::' ? 'NZ' : piece
      })
      assert.equal(fill(content, { type, kind: 'page' }), values.join('').toWellFormed())
    }),
  )
})

const hostile = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.constantFrom(
    '"',
    '\\',
    '</script>',
    ']]>',
    "'",
    '`',
    '\n---\n',
    '# x',
    '*a*',
    '_a_',
    '\u2028',
    '\ufffe',
  ),
)

test('no value leaves its string in JSON', () => {
  fc.assert(
    fc.property(hostile, country => {
      for (const type of ['application/json', 'application/problem+json'] as const)
        assert.deepEqual(JSON.parse(fill('{"a":"::GEO::","b":1}', { type, country })), { a: country, b: 1 })
    }),
  )
})

test('no value becomes markup in HTML or XML', () => {
  fc.assert(
    fc.property(hostile, country => {
      const inHtml = fill('<b title="::GEO::">::GEO::</b>', { type: 'text/html', country })
      const inXml = fill('<b title="::GEO::">::GEO::</b>', { type: 'text/xml', country })
      for (const text of [inHtml, inXml]) assert.match(text, /^<b title="[^<>"']*">[^<>]*<\/b>$/)
      assert.doesNotMatch(inXml, /&#(65534|65535|[0-8]|1[1-9]|2\d|3[01]);/)
    }),
  )
})

test('no value becomes markup in Markdown, nor a line of its frontmatter', () => {
  fc.assert(
    fc.property(hostile, country => {
      const text = fill('---\nfrom: "::GEO::"\nsure: true\n---\n\n::GEO::\n', {
        type: 'text/markdown',
        country,
      })
      assert.equal(text.split('\n').length, 7)
      const frontmatter = parse(text.split(/^---$/m)[1]!)
      assert.deepEqual(Object.keys(frontmatter), ['from', 'sure'])
      assert.match(text.split('\n')[5]!, /^([A-Za-z0-9.:-]|&#\d+;)*$/)
    }),
  )
})

test('a value stays on its line in plain text', () => {
  assert.equal(fill('<::GEO::>', { country: 'a\r\nb\u2028c<é' }), '<a  b c<é>')
})

test('an address is the same in every type', () => {
  for (const type of errorContentTypes)
    for (const ip of ['192.0.2.7', '2001:db8::7', '::1'])
      assert.equal(fill('::CLIENT_IP::', { type, ip }), ip)
})

const both = '[::SVC_ERROR_500S_BOX::|::SVC_ERROR_1000S_BOX::]'

test('a page has the box of the family of its error, and nothing for the other', () => {
  for (const error of Object.keys(errorRows) as ErrorName[]) {
    const [first, second] = fill(both, { kind: 'page', type: 'text/html', error }).slice(1, -1).split('|')
    const { code, title } = errorRows[error]
    const [told, silent] = code < 1000 ? [first!, second] : [second!, first]
    assert.equal(silent, '')
    assert.ok(told.includes(`Error ${code}<`), error)
    assert.ok(told.includes(`>${title.replace(/'/g, '&#39;')}<`), error)
    assert.ok(told.includes('8f3c1e0a9b7d2c46'))
    assert.ok(told.includes('2026-09-21 14:13:20 UTC'))
  }
})

test('the box shows the wait of a rule, and has no script and nothing from outside', () => {
  const refusal = refuse('rate_limited', { retryAfter: 417 })
  const content = new CustomContent('page', '::SVC_ERROR_1000S_BOX::', 'text/html', null)
  const box = content.fill(refusal, occasion, factsFor('rate_limited'))
  assert.match(box, /\b417 s\b/)
  assert.doesNotMatch(box, /\{retry_after\}|<script|https?:|url\(|class=|id=/)
})
