import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { type ErrorName, errorRows } from '../../../src/errors/catalogue/catalogue.ts'
import { problem } from '../../../src/errors/catalogue/problem.ts'
import { refuse } from '../../../src/errors/catalogue/refusal.ts'
import { pagePolicy, renderHtml } from '../../../src/errors/render/html.ts'

const occasion = {
  ray: '8f3c1e0a9b7d2c46',
  zone: `${'long-label.'.repeat(22)}example`,
  accept: null,
  time: 0,
}

function pageOf(name: ErrorName): string {
  return renderHtml(problem(refuse(name), occasion, 'https://docs.example.com'))
}

test('every page is under 12 kB, whatever the host', () => {
  for (const name of Object.keys(errorRows) as ErrorName[]) {
    assert.ok(Buffer.byteLength(pageOf(name)) < 12_000, name)
  }
})

test('a page loads nothing', () => {
  assert.doesNotMatch(pageOf('connection_timeout'), /(?:src|href)="(?!data:|")|url\(|@import/)
})

test('the policy permits the style and the script of the page, and nothing else', () => {
  const page = pageOf('connection_timeout')
  const digestOf = (tag: string) => {
    const [, text] = new RegExp(`<${tag}>(.*)</${tag}>`, 's').exec(page)!
    return `sha256-${createHash('sha256').update(text!).digest('base64')}`
  }
  assert.equal(
    pagePolicy,
    `default-src 'none'; style-src '${digestOf('style')}'; script-src '${digestOf('script')}'; img-src data:; ` +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
  )
  assert.doesNotMatch(page, / (?:style|on\w+)="/)
})

test('a page marks the station where the request stopped', () => {
  const marked = (name: ErrorName) => /<li class="bad">.*?<b>(\w+)<\/b>/.exec(pageOf(name))?.[1]
  assert.deepEqual((['bad_request', 'internal_server_error', 'connection_timeout'] as const).map(marked), [
    'You',
    'Gateway',
    'Origin',
  ])
})

test('emphasis in the guidance is markup in the page', () => {
  assert.match(pageOf('invalid_ssl_certificate'), /<p><strong>Do not retry\.<\/strong> The operator/)
  assert.doesNotMatch(pageOf('invalid_ssl_certificate'), /\*\*/)
})

test('a page says without script how long to wait, and until when', () => {
  assert.match(
    pageOf('rate_limited'),
    /in 30 s, at <time datetime="1970-01-01T00:00:30Z">1970-01-01 00:00:30 UTC<\/time>/,
  )
})
