// What a file offers, another one uses.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { test } from 'node:test'
import { root } from '../help/source.ts'

/** Exports that only tests and benches use, and why they are part of the product. */
const exceptions: Readonly<Record<string, string>> = {
  'src/store/redis/server/acl.ts aclRules': 'what the documentation tells operators to write',
  'src/store/redis/server/acl.ts clusterRules': 'what the documentation tells operators to write',
}

interface File {
  readonly path: string
  readonly text: string
}

const declared = /^export (?:async )?(?:function\*?|const|let|class|interface|type) (\w+)/gm

const ways = [
  /\bimport\s+(?:type\s+)?\{(?<names>[^}]*)\}\s+from\s+'(?<from>\.[^']+)'/g,
  /\{(?<names>[^{}]*)\}\s*=\s*await import\(\s*'(?<from>\.[^']+)'\s*\)/g,
  /\bimport\(\s*'(?<from>\.[^']+)'\s*\)\)?\.(?<names>\w+)/g,
]

/** Lists the exports of src that no other file imports, as path and name. */
function unused(files: readonly File[]): readonly string[] {
  const used = new Set(files.flatMap(importsOf))
  return exportsOf(files).filter(name => !used.has(name))
}

function exportsOf(files: readonly File[]): readonly string[] {
  return files
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap(({ path, text }) => Array.from(text.matchAll(declared), ([, name]) => `${path} ${name}`))
}

function importsOf({ path, text }: File): readonly string[] {
  return ways
    .flatMap(way => [...text.matchAll(way)])
    .flatMap(({ groups }) => {
      const target = slashes(join(dirname(path), groups!.from!))
      return groups!.names!.split(',').map(name => `${target} ${/^\s*(?:type\s+)?(\w*)/.exec(name)![1]}`)
    })
}

/** Whether the file of an export uses it itself. */
function isUsedAtHome(name: string): boolean {
  const [path, word] = name.split(' ') as [string, string]
  const { text } = files.find(file => file.path === path)!
  return (
    text.split('\n').filter(line => !/^\s*(\/\/|\/?\*)/.test(line) && new RegExp(`\\b${word}\\b`).test(line))
      .length > 1
  )
}

function slashes(path: string): string {
  return path.split(sep).join('/')
}

const files = globSync(['src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts'], { cwd: root }).map(path => ({
  path: slashes(path),
  text: readFileSync(join(root, path), 'utf8'),
}))

test('every export is imported by another file', () => {
  assert.deepEqual(unused(files), [])
})

test('what only tests use is no part of the product', () => {
  const product = files.filter(({ path }) => path.startsWith('src/'))
  assert.deepEqual(
    unused(product)
      .filter(name => !isUsedAtHome(name))
      .sort(),
    Object.keys(exceptions).sort(),
  )
})

test('an export that nobody imports would be seen, and every way to import one counts', () => {
  const offering = {
    path: 'src/a/one.ts',
    text: 'export const A = 1\nexport function b() {}\nexport type C = 1\nexport class D {}\nexport interface E {}\nexport async function* f() {}',
  }
  const using = {
    path: 'test/a/one.test.ts',
    text: "import { A, type C } from '../../src/a/one.ts'\nconst { b } = await import('../../src/a/one.ts')\ntype X = import('../../src/a/one.ts').E\n(await import('../../src/a/one.ts')).D",
  }
  assert.deepEqual(unused([offering, using]), ['src/a/one.ts f'])
})
