import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorRows, isRaised } from '../../../src/errors/catalogue/catalogue.ts'
import { previewOnly } from '../../../src/errors/catalogue/preview-only.ts'
import { compose } from '../../../src/errors/audience/people.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../help/source.ts'
import { documentError, documentIndex } from '../../../src/errors/docs/document.ts'
import { refuse } from '../../../src/errors/catalogue/refusal.ts'

const rows = Object.values(errorRows)

function headerOf({ headers }: { readonly headers: readonly string[] }, name: string): string | undefined {
  const at = headers.indexOf(name)
  return at === -1 ? undefined : headers[at + 1]
}

test('every error is documented in every format, with its cause and its remedy', () => {
  for (const row of rows) {
    for (const accept of ['text/html', 'application/json', 'text/markdown', 'text/plain']) {
      const answer = documentError(String(row.code), accept)!
      assert.equal(answer.status, 200)
      assert.equal(headerOf(answer, 'Content-Length'), String(Buffer.byteLength(answer.body)))
      assert.ok(answer.body.includes(row.cause), `${row.code} as ${accept}`)
      assert.ok(answer.body.includes(row.remedy), `${row.code} as ${accept}`)
    }
  }
})

test('a code that no error has is not documented', () => {
  for (const code of ['', '999', '0522', 'connection_timeout']) assert.equal(documentError(code, null), null)
})

test('the document of an error has for programs what its row says', () => {
  const { cause, remedy, detail, what_you_should_do, ...facts } = JSON.parse(
    documentError('1015', 'application/json')!.body,
  )
  assert.deepEqual(facts, {
    code: 1015,
    name: 'rate_limited',
    title: 'You are being rate limited',
    status: 429,
    category: 'rate_limit',
    retryable: true,
    retry_after: 30,
    owner_action_required: false,
    raised: true,
  })
})

test('the document says which errors this version does not raise', () => {
  for (const accept of ['text/html', 'text/markdown', 'text/plain']) {
    for (const [name, { code }] of Object.entries(errorRows)) {
      const { body } = documentError(String(code), accept)!
      assert.equal(body.includes('not by this version'), !isRaised(name), `${code} as ${accept}`)
      assert.equal(/Possible cause/i.test(body), !isRaised(name), `${code} as ${accept}`)
    }
  }
  const index = documentIndex('text/markdown').body
  for (const [name, { code }] of Object.entries(errorRows))
    assert.match(
      index,
      new RegExp(`^\\| ${code} \\|.*\\| ${isRaised(name) ? 'yes' : 'preview only'} \\|$`, 'm'),
    )
})

test('the index lists every error, programs get them in the order of the codes', () => {
  const codes = rows.map(row => row.code).sort((a, b) => a - b)
  const { errors } = JSON.parse(documentIndex('application/json').body)
  assert.deepEqual(
    errors.map((entry: { code: number }) => entry.code),
    codes,
  )
  const listed = Array.from(documentIndex('text/html').body.matchAll(/href="errors\/(\d+)"/g), ([, code]) =>
    Number(code),
  )
  assert.deepEqual(
    listed.toSorted((a, b) => a - b),
    codes,
  )
  assert.equal(documentIndex('text/markdown').body.match(/^\| \d+ \|/gm)?.length, codes.length)
})

test('documents have the same security headers as errors', () => {
  const names = ['X-Content-Type-Options', 'X-Frame-Options', 'Referrer-Policy']
  const error = compose(
    refuse('origin_down'),
    { ray: '', zone: '', accept: null, time: 0 },
    { documentation: '' },
  )
  for (const document of [documentIndex(null), documentError('522', null)!]) {
    for (const name of names) {
      assert.ok(headerOf(document, name))
      assert.equal(headerOf(document, name), headerOf(error, name))
    }
  }
})

test('the page of an error runs no script, and the list only its own', () => {
  const [error, list] = [documentError('522', null)!, documentIndex(null)]
  assert.match(headerOf(error, 'Content-Security-Policy')!, /script-src 'none'/)
  assert.doesNotMatch(error.body, /<script/)
  assert.match(headerOf(list, 'Content-Security-Policy')!, /script-src 'sha256-[^']+';/)
})

test('the page about errors lists the codes that this version never raises', () => {
  const page = readFileSync(join(root, 'docs/errors.md'), 'utf8').replaceAll('\n', ' ')
  const listed = /This version never raises these codes, only previews show them: ([\d, ]+)\./.exec(page)![1]!
  const codes = Object.values(previewOnly).map(({ code }) => code)
  assert.deepEqual(
    listed.split(', ').map(Number),
    codes.sort((a, b) => a - b),
  )
})
