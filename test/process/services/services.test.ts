import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '../../../src/log/log.ts'
import { Metrics } from '../../../src/metrics/metrics.ts'
import { Services } from '../../../src/process/services/services.ts'
import { mintToken } from '../../../src/tokens/token.ts'
import { edgeConfig } from '../../help/edge.ts'

test('while the store is unreachable, what others have found is borrowed as such, and nothing else', async t => {
  const asked: [string, boolean][] = []
  const config = edgeConfig([])
  const services = await Services.open(
    { ...config, store: { ...config.store, url: 'redis://127.0.0.1:1' } },
    {
      metrics: new Metrics('0').edge,
      log: createLogger('fatal', { write: () => {} }),
      sidePort: () => config.admin,
      borrow: async ([, key], isFound) => {
        asked.push([key, isFound])
        return null
      },
    },
  )
  t.after(() => services.close())
  const [found, other] = [mintToken(), mintToken()]
  services.hearFound([['token', found.digest]])
  for (const { value } of [found, other])
    assert.equal(await services.tokens.verify(value, '127.0.0.1', 'ai'), 'store_unreachable')
  assert.deepEqual(
    new Map(asked),
    new Map([
      [found.digest, true],
      [other.digest, false],
    ]),
  )
})
