// The conformance suite of the Model Context Protocol, as far as a gateway bears on it: what is read in requests, who may call, and sessions. The rest is in mcp.ts.

import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { failuresIn, runSuite } from './mcp/suite.ts'
import { settle } from './mcp/town.ts'

/** What the servers do not do, so that no gateway can. */
const ofServers = [
  ...['server-rejects-undeclared-capability', 'missing-capability-http-400'],
  ...['http-server-no-independent-requests-on-stream', 'server-no-log-without-loglevel'],
  'server-session-terminated-returns-404',
]

test('routes pass the conformance suite', async t => {
  const { sessions, stateless } = await settle(t)
  for (const [route, revision, scenario, least] of [
    [stateless.route, '2026-07-28', 'http-header-validation', 14],
    [stateless.route, '2026-07-28', 'http-custom-header-server-validation', 6],
    [stateless.route, '2026-07-28', 'server-stateless', 20],
    // The servers themselves let such pages in.
    [stateless.route, '2026-07-28', 'dns-rebinding-protection', 2],
    [sessions.route, '2025-11-25', 'server-session-lifecycle', 2],
    [sessions.route, '2025-11-25', 'server-sse-multiple-streams', 2],
  ] as const)
    await t.test(`${scenario} of ${revision}`, async () => {
      const outcomes = await runSuite(route, revision, scenario)
      const failures = [...failuresIn(outcomes)].filter(
        ([check]) => !ofServers.some(id => check.includes(id)),
      )
      deepEqual(failures, [])
      ok([...outcomes.values()].filter(({ status }) => status === 'SUCCESS').length >= least)
    })
})
