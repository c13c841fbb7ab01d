import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Exchange } from '../../../src/edge/exchange/exchange.ts'
import { factsOf, sentFactsOf } from '../../../src/edge/exchange/facts.ts'

/** Makes what facts are found in, and counts the looks at its head. */
function exchange() {
  const looks = { target: 0, fields: 0 }
  const head = {
    get target() {
      looks.target++
      return `${'%41'.repeat(5000)}?q=1`
    },
    get fields() {
      looks.fields++
      return ['X-Forwarded-Proto', 'https', 'A', '1', 'a', '2']
    },
    ids: [17, 0, 0],
  }
  return {
    x: {
      head,
      outgoing: head,
      paths: null,
      facts: null,
      scheme: 'https',
      client: { isTrusted: true, tls: null },
    } as unknown as Exchange,
    looks,
  }
}

for (const [name, of] of [
  ['facts', factsOf],
  ['facts as sent', sentFactsOf],
] as const) {
  test(`${name} are found once, however often they are asked for`, () => {
    const { x, looks } = exchange()
    const { request } = of(x)
    const seen = new Set(
      Array.from({ length: 30 }, () =>
        [request.path, request.query, request.scheme, request.tls.version].join(),
      ),
    )
    assert.equal(seen.size, 1)
    assert.equal(looks.target, 2)
    for (let i = 0; i < 30; i++) assert.deepEqual(request.headers.get('a'), ['1', '2'])
    assert.ok(looks.fields <= 2, `${looks.fields}`)
  })
}
