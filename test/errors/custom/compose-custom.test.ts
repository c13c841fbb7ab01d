import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { errorContentTypes } from '../../../src/config/model/custom-errors-config.ts'
import { type ErrorName, errorRows } from '../../../src/errors/catalogue/catalogue.ts'
import type { ErrorResponse } from '../../../src/errors/audience/audience.ts'
import { compose } from '../../../src/errors/audience/people.ts'
import { composeCustom } from '../../../src/errors/custom/compose-custom.ts'
import { CustomContent } from '../../../src/errors/custom/custom-content.ts'
import { type Facts, refuse } from '../../../src/errors/catalogue/refusal.ts'
import { anyCharacter } from '../../help/any-text.ts'
import { factsFor } from '../../help/custom-errors.ts'

const names = Object.keys(errorRows) as ErrorName[]
const occasion = { ray: '8f3c1e0a9b7d2c46', zone: 'site.test', accept: null, time: 1_790_000_000_000 }

function composed(content: CustomContent, error: ErrorName, facts?: Facts): ErrorResponse {
  return composeCustom(content, refuse(error, facts), occasion, factsFor(error))
}

/** Lists the fields but those that tell of the content itself. */
function fieldsOf({ headers }: ErrorResponse): string[] {
  const lines = headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}`] : []))
  return lines.filter(line => !/^Content-(Type|Length|Security-Policy):/.test(line))
}

test('every field but those of the content is that of the record, for every error', () => {
  const content = new CustomContent('rule', 'custom', 'text/plain', null)
  const wait = { retryAfter: 416.5, allow: 'GET, HEAD' }
  for (const name of names)
    for (const facts of [{}, wait]) {
      const custom = composed(content, name, facts)
      const usual = compose(refuse(name, facts), occasion, { documentation: '' })
      assert.deepEqual(fieldsOf(custom), fieldsOf(usual))
      assert.deepEqual([custom.status, custom.reason], [usual.status, usual.reason])
      assert.equal(custom.headers.includes('Content-Security-Policy'), false)
    }
})

test('a status of its own changes the status line alone', () => {
  const usual = composed(new CustomContent('rule', 'custom', 'text/plain', null), 'rate_limited')
  for (let status = 400; status <= 999; status++) {
    const custom = composed(new CustomContent('rule', 'custom', 'text/plain', status), 'rate_limited')
    assert.equal(custom.status, status)
    assert.match(custom.reason, /^[A-Z][\x20-\x7e]+$/, String(status))
    assert.deepEqual(custom.headers, usual.headers)
  }
})

test('the length is told in bytes, for any content of any type', () => {
  const piece = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc.constantFrom('::CLIENT_IP::', '::RAY_ID::', '::GEO::', '::SVC_ERROR_500S_BOX::', 'é', '🙇', '\udc00'),
  )
  fc.assert(
    fc.property(
      fc.array(piece),
      fc.constantFrom(...errorContentTypes),
      fc.constantFrom('rule' as const, 'page' as const),
      (pieces, type, kind) => {
        const { headers, body } = composed(
          new CustomContent(kind, pieces.join(''), type, null),
          'origin_down',
        )
        const bytes = Buffer.from(body, 'latin1')
        assert.equal(headers[headers.indexOf('Content-Length') + 1], String(bytes.length))
        assert.equal(bytes.toString('latin1'), body)
        assert.ok(Buffer.from(bytes.toString()).equals(bytes), 'it is UTF-8')
      },
    ),
  )
})
