// Which way imports point: down the hill only. Type imports count too.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type SourceFile, sourceFiles } from '../help/source.ts'

const ranks: Readonly<Record<string, number>> = {
  base: 0,
  metrics: 1,
  expression: 1,
  http1: 1,
  log: 2,
  config: 3,
  errors: 4,
  store: 5,
  zones: 6,
  pools: 6,
  access: 6,
  limits: 6,
  tokens: 6,
  domains: 6,
  ai: 6,
  'oauth-clients': 7,
  'ai-logs': 7,
  edge: 8,
  admin: 8,
  oauth: 8,
  dashboard: 8,
  process: 9,
  'main.ts': 10,
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
    path: 'edge/serve.ts',
    text: '',
    packages: [],
    imports: ['process/cli.ts', 'admin/routes.ts', 'edge/body.ts', 'base/ray.ts'],
  }
  assert.deepEqual(wrongTurns(file), [
    'edge/serve.ts imports process/cli.ts',
    'edge/serve.ts imports admin/routes.ts',
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
