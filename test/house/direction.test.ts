// Which way imports point: down the hill only. Type imports count too.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type SourceFile, sourceFiles } from '../help/source.ts'

const ranks: Readonly<Record<string, number>> = {
  base: 0,
  metrics: 1,
  expression: 1,
  http1: 1,
  http2: 2,
  tls: 1,
  log: 2,
  config: 3,
  errors: 4,
  store: 5,
  telemetry: 5,
  permissions: 6,
  tallies: 6,
  zones: 7,
  pools: 7,
  access: 7,
  limits: 7,
  tokens: 7,
  people: 7,
  domains: 7,
  certificates: 7,
  ai: 7,
  'oauth-clients': 8,
  'oauth-grants': 8,
  'ai-logs': 8,
  pages: 9,
  edge: 10,
  admin: 10,
  'sign-in': 10,
  'oauth-server': 10,
  dashboard: 10,
  process: 11,
  'main.ts': 12,
}

const folderOf = (path: string) => path.split('/')[0]!

function wrongTurns({ path, imports }: SourceFile): string[] {
  const from = folderOf(path)
  const climbs = (target: string) => folderOf(target) !== from && !(ranks[folderOf(target)]! < ranks[from]!)
  return imports.filter(climbs).map(target => `${path} imports ${target}`)
}

test('every folder of src has a rank', () => {
  const folders = new Set(sourceFiles().map(({ path }) => folderOf(path)))
  assert.deepEqual(
    [...folders].filter(folder => !(folder in ranks)),
    [],
  )
})

test('files import from lower ranks and their own folder only', () => {
  assert.deepEqual(sourceFiles().flatMap(wrongTurns), [])
})

test('an import that climbs, or goes sideways, would be seen', () => {
  const file = {
    path: 'edge/serve/serve.ts',
    text: '',
    packages: [],
    imports: ['process/cli.ts', 'admin/routes.ts', 'edge/body.ts', 'base/ray.ts'],
  }
  assert.deepEqual(wrongTurns(file), [
    'edge/serve/serve.ts imports process/cli.ts',
    'edge/serve/serve.ts imports admin/routes.ts',
  ])
})

test('no files import each other in a circle, types included', () => {
  const graph = new Map(sourceFiles().map(({ path, imports }) => [path, imports]))
  const done = new Set<string>()
  const walk = (path: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(path), `a circle: ${[...trail, path].join(' -> ')}`)
    if (done.has(path)) return
    for (const target of graph.get(path) ?? []) walk(target, [...trail, path])
    done.add(path)
  }
  for (const path of graph.keys()) walk(path, [])
})
