// Imports point down the hill, from room to room and, inside a large room, from sub-room to sub-room. Type imports count too.

import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { type SourceFile, sourceFiles } from '../help/source.ts'

/** The sub-folders of a folder, lowest first; those on one level do not import each other. `.` is the folder's own files. */
type Levels = readonly (readonly string[])[]

const ranks: Readonly<Record<string, Levels>> = {
  src: [
    ['base'],
    ['net', 'metrics', 'expression'],
    ['http1', 'mcp', 'tls', 'log'],
    ['http2'],
    ['config'],
    ['errors'],
    ['store', 'telemetry'],
    ['permissions', 'activity', 'log-export'],
    ['zones', 'pools', 'access', 'limits', 'tokens', 'people', 'domains', 'certificates', 'ai', 'budgets'],
    ['oauth', 'ai-logs', 'answers', 'guard', 'protect'],
    ['pages'],
    ['edge', 'admin', 'sign-in', 'oauth-server', 'dashboard'],
    ['process'],
    ['.'],
  ],
  edge: [
    ['wire', 'rewrite', 'encoding', 'trace', 'cloud-keys'],
    ['resolver', 'gates'],
    ['ai-call'],
    ['origin'],
    ['snapshot'],
    ['exchange'],
    ['ai', 'compression', 'protect', 'spans'],
    ['steps'],
    ['meter', 'guard'],
    ['answers', 'mcp'],
    ['forward'],
    ['serve'],
    ['client'],
    ['accept', 'explain'],
    ['.'],
  ],
  process: [
    ['system', 'demo'],
    ['terminal'],
    ['store'],
    ['ports'],
    ['services', 'handover'],
    ['certificates', 'plane'],
    ['side-port', 'workers'],
    ['gateway'],
    ['commands'],
    ['.'],
  ],
  store: [
    ['records'],
    ['log-batch', 'log-sums', 'budget-ledger', 'answers'],
    ['contract'],
    ['sqlite', 'redis', 'cache'],
    ['.'],
  ],
  base: [['.', 'ids', 'json', 'path', 'secrets', 'system', 'text', 'turns']],
  net: [['address'], ['socket'], ['http']],
  http1: [['fields', 'websocket'], ['body'], ['heads']],
  http2: [['hpack'], ['frames'], ['session'], ['client', 'server']],
  ai: [['parsing'], ['usage', 'translate', 'failover'], ['worst-case', 'providers'], ['.']],
  metrics: [['counters'], ['families'], ['.']],
  config: [['model'], ['file'], ['shape'], ['settings'], ['resolve'], ['load']],
  errors: [['catalogue'], ['render'], ['audience'], ['custom', 'docs']],
  access: [['bans', 'files'], ['rules'], ['.']],
  people: [
    ['passwords', 'records', 'second-factor'],
    ['passkeys'],
    ['sessions'],
    ['sign-in'],
    ['links'],
    ['openid'],
    ['.'],
  ],
  certificates: [['acme'], ['.']],
  pages: [['parts'], ['views'], ['forms']],
  oauth: [['clients'], ['grants'], ['documents']],
  'oauth-server': [['http'], ['pages', 'credentials'], ['engine'], ['endpoints'], ['.']],
  admin: [
    ['http', 'facts'],
    ['records', 'schema', 'service'],
    ['attention', 'guard', 'spend-limits', 'upkeep'],
    ['api'],
    ['audit', 'oauth-clients', 'overview', 'providers', 'tokens', 'zones'],
    ['gateways', 'oauth-grants'],
    [
      'ai-logs',
      'budget-alerts',
      'custom-providers',
      'dynamic-routes',
      'people',
      'policies',
      'provider-configs',
    ],
    ['openapi'],
    ['docs'],
    ['.'],
  ],
  dashboard: [
    ['page'],
    ['parts'],
    ['budgets'],
    ['audit', 'errors', 'gateways', 'members', 'oauth-clients', 'overview', 'providers', 'tokens', 'zones'],
    ['logs'],
    ['.'],
  ],
}

const files = sourceFiles()

/** Files that a reader takes in at a glance. */
const maxFiles = 20

/** Files that a ranked room may have beside its sub-rooms: its door. */
const maxFilesAtDoor = 6

/** Returns the part of a path that names a sub-folder of a folder, `.` for a file directly in it, null for a path outside. */
function subFolder(folder: string, path: string): string | null {
  const inside =
    folder === 'src' ? path : path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : null
  if (inside === null) return null
  const end = inside.indexOf('/')
  return end === -1 ? '.' : inside.slice(0, end)
}

function rankOf(levels: Levels, name: string): number {
  return levels.findIndex(level => level.includes(name))
}

/** Lists the imports of a file that do not point down, in each ranked folder that has both ends. */
function climbs({ path, imports }: SourceFile): string[] {
  return Object.entries(ranks).flatMap(([folder, levels]) => {
    const from = subFolder(folder, path)
    if (from === null) return []
    const isClimb = (target: string) => {
      const to = subFolder(folder, target)
      return to !== null && to !== from && rankOf(levels, to) >= rankOf(levels, from)
    }
    return imports.filter(isClimb).map(target => `${path} imports ${target}`)
  })
}

test('every sub-folder of a ranked folder has a rank', () => {
  const unranked = Object.entries(ranks).flatMap(([folder, levels]) => {
    const names = new Set(files.map(({ path }) => subFolder(folder, path)))
    return [...names]
      .filter(name => name !== null && rankOf(levels, name) === -1)
      .map(name => `${folder}/${name}`)
  })
  assert.deepEqual(unranked, [])
})

test('every rank is that of a folder', () => {
  const stale = Object.entries(ranks).flatMap(([folder, levels]) =>
    levels
      .flat()
      .filter(name => !files.some(({ path }) => subFolder(folder, path) === name))
      .map(name => `${folder}/${name}`),
  )
  assert.deepEqual(stale, [])
})

test('files import from lower ranks and their own folder only', () => {
  assert.deepEqual(files.flatMap(climbs), [])
})

test('an import that climbs, or goes sideways, would be seen', () => {
  const imports = [
    'process/cli.ts',
    'admin/routes.ts',
    'base/ids/ray.ts',
    'edge/client/connection.ts',
    'edge/forward/attempt.ts',
  ]
  assert.deepEqual(climbs({ path: 'edge/serve/serve.ts', text: '', packages: [], imports }), [
    'edge/serve/serve.ts imports process/cli.ts',
    'edge/serve/serve.ts imports admin/routes.ts',
    'edge/serve/serve.ts imports edge/client/connection.ts',
  ])
})

test('a large room is ranked inside', () => {
  const sizes = Map.groupBy(files, ({ path }) => subFolder('src', path)!)
  const unranked = [...sizes]
    .filter(([room, files]) => files.length > 40 && !(room in ranks))
    .map(([room]) => room)
  assert.deepEqual(unranked, [])
})

test('no folder has more files than a reader takes in at a glance', () => {
  const folders = Map.groupBy(files, ({ path }) => dirname(path))
  const crowded = [...folders]
    .filter(([, { length }]) => length > maxFiles)
    .map(([folder, { length }]) => `${folder}: ${length}`)
  assert.deepEqual(crowded, [])
})

test('a ranked room has little beside its sub-rooms', () => {
  const rooms = Object.keys(ranks).filter(room => room !== 'src')
  const crowded = rooms.filter(
    room => files.filter(({ path }) => dirname(path) === room).length > maxFilesAtDoor,
  )
  assert.deepEqual(crowded, [])
})

test('no files import each other in a circle, types included', () => {
  const graph = new Map(files.map(({ path, imports }) => [path, imports]))
  const done = new Set<string>()
  const walk = (path: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(path), `a circle: ${[...trail, path].join(' -> ')}`)
    if (done.has(path)) return
    for (const target of graph.get(path) ?? []) walk(target, [...trail, path])
    done.add(path)
  }
  for (const path of graph.keys()) walk(path, [])
})
