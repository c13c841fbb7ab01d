// The whole conformance suite of the Model Context Protocol, at two servers and at their routes, at the authorization server, and for a client behind a route: node test/conformance/mcp.ts
//
// Prints what fails, and says where. Ends with code 1 if anything fails at a route alone.

import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { settle as settleTown } from '../journeys/mcp-town.ts'
import { runAuthorizationSuite } from './mcp/authorize.ts'
import { failuresIn, runClientSuite, runSuite } from './mcp/suite.ts'
import { settle } from './mcp/town.ts'

test('what passes at a server passes at its route', async t => {
  const { sessions, stateless } = await settle(t)
  let count = 0
  for (const [name, { direct, route }, revision] of [
    ['with sessions', sessions, '2025-11-25'],
    ['without', stateless, '2025-11-25'],
    ['without', stateless, '2026-07-28'],
  ] as const) {
    const [there, here] = [await runSuite(direct, revision), await runSuite(route, revision)]
    const [failedThere, failedHere] = [failuresIn(there), failuresIn(here)]
    t.diagnostic(`${revision}, a server ${name}: ${here.size} checks`)
    for (const [check, why] of failedHere) {
      if (!failedThere.has(check)) count++
      t.diagnostic(`  ${failedThere.has(check) ? 'server too' : 'ROUTE ONLY'}: ${check}: ${why}`)
    }
    for (const [check, why] of failedThere)
      if (!failedHere.has(check)) t.diagnostic(`  server only: ${check}: ${why}`)
  }
  equal(count, 0)
})

test('the authorization server passes, for an agent that asks for a token for a route', async t => {
  const town = await settleTown(t)
  const outcomes = await runAuthorizationSuite(town, town.stateless)
  deepEqual([...outcomes].map(([name, { id, status }]) => [name.split(' ')[0], id, status]).toSorted(), [
    ['authorization-code-grant', 'authorization-code-grant', 'SUCCESS'],
    ['authorization-server-metadata-endpoint', 'authorization-server-metadata', 'SUCCESS'],
    // Documents of clients are off in this gateway.
    ['authorization-server-metadata-endpoint', 'authorization-server-metadata-cimd', 'WARNING'],
  ])
})

test('what the suite sees of a client, it sees of the client behind a route', async t => {
  for (const [scenario, revision] of [
    ['initialize', '2025-11-25'],
    ['tools_call', '2025-11-25'],
    ['tools_call', '2026-07-28'],
    ['request-metadata', '2026-07-28'],
    ['http-standard-headers', '2026-07-28'],
    ['http-custom-headers', '2026-07-28'],
  ] as const) {
    const [direct, route] = [
      await runClientSuite('direct', revision, scenario),
      await runClientSuite('route', revision, scenario),
    ]
    const statuses = (outcomes: typeof direct) => [...outcomes].map(([name, { status }]) => [name, status])
    ok([...direct.values()].some(({ status }) => status === 'SUCCESS'))
    deepEqual(statuses(route), statuses(direct))
    for (const [check, why] of failuresIn(route)) t.diagnostic(`the client too: ${check}: ${why}`)
  }
})
