// The cases that node test/conformance/http2-origins.ts runs, so that they and their driver stay right.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Edge, edgeConfig, listenAt, zoneTo } from '../help/edge.ts'
import { originCases } from './http2-origins/cases.ts'
import { CaseOrigin, runOriginCase } from './http2-origins/run.ts'
import { idsOf, inTurns } from './run.ts'

test('all cases of origins pass', async t => {
  const origins = await Promise.all(originCases.map(of => new CaseOrigin(of).listen()))
  t.after(() => {
    for (const origin of origins) origin.close()
  })
  const routes = origins.flatMap(({ port }) => {
    const pool = { name: `origin-${port}` }
    const transport = { http: 'h2c' } as const
    return zoneTo([`http://127.0.0.1:${port}`], { pool, transport, route: { path: `/${port}/` } }).routes
  })
  const edge = await listenAt(t, new Edge(t, edgeConfig([], { zone: { routes } })))
  const ids = idsOf(originCases)
  const verdicts = await inTurns(originCases, async (of, i) => {
    const { port } = origins[i]!
    const verdict = await runOriginCase(of, origins[i]!, edge.port, `/${port}/`)
    return verdict.result === 'passed' ? null : { id: ids[i], title: of.title, ...verdict }
  })
  assert.deepEqual(
    verdicts.filter(verdict => verdict !== null),
    [],
  )
  assert.ok(verdicts.length > 100)
})
