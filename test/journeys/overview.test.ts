// What the overview of the API shows of requests that real processes served.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway } from '../help/gateway.ts'
import { siteConfig, startSite } from '../help/site.ts'
import { thorough } from '../help/thorough.ts'

for (const workers of thorough([0, 2], [2]))
  test(`the overview counts the requests of ${workers} workers`, async t => {
    const origin = await startSite(t, (_, response) => response.end('hello'))
    const gateway = await startGateway(t, siteConfig(origin, `workers: ${workers}`))
    const { token, account } = await gateway.firstStart
    for (let i = 0; i < 8; i++) {
      const response = await fetch(`${gateway.edge}/${i}`, { headers: { connection: 'close' } })
      assert.equal(response.status, 200)
      await response.arrayBuffer()
    }
    const response = await fetch(`${gateway.admin}/client/v4/accounts/${account}/overview`, {
      headers: { authorization: `Bearer ${token}` },
    })
    // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape
    const { result } = (await response.json()) as any
    const counts = (
      windows: readonly { zones: readonly { zone: string; classes: Record<string, number> }[] }[],
    ) =>
      windows.flatMap(({ zones }) =>
        zones.filter(({ zone }) => zone === 'site').map(({ classes }) => classes['2xx']),
      )
    assert.deepEqual(
      counts(result.requests.hours).reduce((sum, n) => sum! + n!, 0),
      8,
    )
    assert.deepEqual(
      [result.process.workers, result.store.backend, result.store.is_durable],
      [workers, 'sqlite', true],
    )
    assert.deepEqual(result.origins, [
      { zone: 'site', unchecked: 0, healthy: 1, failing: 0, ejected: 0, trial: 0, down: 0 },
    ])
  })
