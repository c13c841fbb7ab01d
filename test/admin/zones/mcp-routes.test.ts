import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type McpCount, mcpCount, mcpScope } from '../../../src/activity/tally-scopes.ts'
import { slotOf } from '../../../src/store/records/tally.ts'
import { zoneTo } from '../../help/edge.ts'
import { startApi } from '../api.ts'
import { zoneWith } from './zones.ts'

const mcp = { bodyLimit: 1, origins: [], rules: [], otherwise: 'allow' } as const
const [route] = zoneTo(['http://10.0.0.1:9000'], { route: { path: '/mcp', mcp } }).routes

test('what routes to MCP servers were asked in the last day is summed over its hours, most frequent first', async t => {
  const { ask, given, kept, clock } = await startApi(t)
  given.configs[0] = zoneWith({
    routes: [route!, { ...route!, path: '/other' }, { ...route!, path: '/', mcp: null }],
  })
  const add = (what: McpCount, count: number, hoursAgo = 0, path = '/mcp') => {
    const last = clock.now() - hoursAgo * 3_600_000
    const counted = { kind: 'mcp', scope: mcpScope('main', path), slot: slotOf('mcp', last), last } as const
    return kept.tallies.add([{ ...counted, name: mcpCount(what), count, occurrences: [] }])
  }
  await add(['message', 'tools/list', '', 'answered'], 3)
  await add(['message', 'tools/call', 'search', 'answered'], 4)
  await add(['message', 'tools/call', 'search', 'answered'], 4, 20)
  await add(['message', 'tools/call', 'search', 'refused'], 90)
  await add(['message', 'tools/call', 'search', 'of a later version'], 90)
  await add(['time', 'tools/call', 'search'], 100)
  await add(['refusal', 'tools/call', 'search', 'MCP rule 2'], 90)
  await add(['caller', 'user:1', 'answered'], 8)
  await add(['message', 'ping', '', 'answered'], 1, 0, '/elsewhere')
  for (let i = 0; i < 60; i++) await add(['caller', `user:x${i}`, 'refused'], 1)
  const { json } = await ask('GET', '/client/v4/zones/main/mcp')
  const [first, second] = json.result
  const none = { answered: 0, refused: 0, failed: 0, cancelled: 0 }
  assert.deepEqual(first.messages, [
    { method: 'tools/call', name: 'search', ...none, answered: 8, refused: 90, mean_ms: 13 },
    { method: 'tools/list', name: null, ...none, answered: 3, mean_ms: 0 },
  ])
  assert.deepEqual(first.callers[0], { subject: 'user:1', ...none, answered: 8 })
  assert.equal(first.callers.length, 50)
  assert.deepEqual(first.refusals, [
    { method: 'tools/call', name: 'search', reason: 'MCP rule 2', count: 90 },
  ])
  assert.deepEqual(second, {
    route: '/other',
    pool: first.pool,
    messages: [],
    callers: [],
    refusals: [],
  })
  assert.equal(json.result.length, 2)
})
