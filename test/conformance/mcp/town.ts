// The gateway before the servers that the suite is run against, with a route for each and no rules.

import type { TestContext } from 'node:test'
import { startGateway } from '../../help/gateway.ts'
import { startEverything, startMcpOrigin } from '../../help/mcp-origin.ts'
import { makeConformanceServer } from './origin.ts'

/** Where a server is, and where it is behind the gateway. */
export interface Ways {
  readonly direct: string
  readonly route: string
}

/** One has sessions. The other has what the suite asks for, and each request is on its own. */
export async function settle(t: TestContext): Promise<{ readonly sessions: Ways; readonly stateless: Ways }> {
  const [everything, origin] = await Promise.all([
    startEverything(t),
    startMcpOrigin(t, makeConformanceServer),
  ])
  const { edge } = await startGateway(
    t,
    `pools:
  everything: { origins: ['${new URL(everything).origin}'] }
  stateless: { origins: ['${new URL(origin.url).origin}'] }
zones:
  - hosts: ['127.0.0.1', localhost]
    routes:
      - { path: /mcp, pool: everything, mcp: true }
      - { path: /stateless/mcp, pool: stateless, mcp: true }
`,
  )
  return {
    sessions: { direct: everything, route: `${edge}/mcp` },
    stateless: { direct: origin.url, route: `${edge}/stateless/mcp` },
  }
}
