// Prometheus metrics of requests to MCP servers.

import type { McpCounts, McpMetrics } from '../counters/mcp-metrics.ts'
import { byName, type Families, histogram, type Sample } from './family.ts'

const duration = 'gatehouse_mcp_request_duration_seconds'

export const mcpFamilies: Families = {
  gatehouse_mcp_requests_total: {
    help: 'Messages to MCP servers by zone, route, method, name of the tool or prompt, and result: answered, refused by the gateway, failed (there, at the server, or with an error as its result), or cancelled by the client.',
    read: ({ edge: { mcp } }) =>
      each(mcp, (labels, { results }) => byName(results, result => ({ ...labels, result }))),
  },
  [duration]: {
    type: 'histogram',
    help: 'Seconds from reading the request head to the end of the response of an MCP server, by zone, route, method and name, without what the gateway refused.',
    read: ({ edge: { mcp } }) => each(mcp, (labels, counts) => histogram(duration, labels, counts.duration)),
  },
}

type Labels = Record<'zone' | 'route' | 'method' | 'name', string>

function each({ zones }: McpMetrics, read: (labels: Labels, counts: McpCounts) => Sample[]): Sample[] {
  const samples: Sample[] = []
  for (const [zone, routes] of zones)
    for (const [route, { methods }] of routes)
      for (const [method, names] of methods)
        for (const [name, counts] of names) samples.push(...read({ zone, route, method, name }, counts))
  return samples
}
