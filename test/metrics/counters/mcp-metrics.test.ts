// The bound on the names of what an MCP server has.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { McpRouteMetrics, otherName } from '../../../src/metrics/counters/mcp-metrics.ts'

test('a name is a label once the server has it, and a route has at most 100', () => {
  const route = new McpRouteMetrics()
  assert.equal(route.labelOf('search', false), otherName)
  assert.equal(route.labelOf('search', true), 'search')
  assert.equal(route.labelOf('search', false), 'search')
  assert.equal(route.labelOf('x'.repeat(129), true), otherName)
  for (let i = 0; i < 99; i++) assert.equal(route.labelOf(`tool-${i}`, true), `tool-${i}`)
  assert.equal(route.labelOf('one-more', true), otherName)
  assert.equal(route.labelOf('search', true), 'search')
})
