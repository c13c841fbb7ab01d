// Rules for all source files that can be checked without understanding them.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root, type SourceFile, sourceFiles } from '../help/source.ts'

const files = sourceFiles()

/** Asserts that no file breaks a rule. */
function none(isBroken: (file: SourceFile) => boolean): void {
  assert.deepEqual(
    files.filter(isBroken).map(({ path }) => path),
    [],
  )
}

test('every file begins with a comment', () => {
  none(({ text }) => !/^(#!.*\n)?\/\/ \S/.test(text))
})

test('a blank line follows the comment at the top of a file', () => {
  none(({ text }) => !/^(#!.*\n)?(\/\/.*\n)+(\n|$)/.test(text))
})

test('no file is a barrel or is named for anything', () => {
  none(({ path }) => /(^|\/)(index|utils?|helpers?|common)\.ts$/.test(path))
  none(({ text }) => /^export (\*|\{[^}]*\}) from/m.test(text))
})

test('there are no default exports, no enums, no namespaces', () => {
  none(({ text }) => /^export default|^(export )?(const )?enum |^(export )?namespace /m.test(text))
})

test('constants are camelCase, as all names are', () => {
  none(({ text }) => /^(export )?(const|let) [A-Z][A-Z0-9_]*\b/m.test(text))
})

test('there are no TODOs', () => {
  none(({ text }) => /\b(TODO|FIXME|XXX|HACK)\b/.test(text))
})

test('no comment line of src is wider than 110 columns', () => {
  const comments = globSync('src/**/*.{ts,js,css}', { cwd: root }).flatMap(path =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .map((line, i) => ({ place: `${path}:${i + 1}`, line }))
      .filter(({ line }) => /^\s*(\/\/|\/?\*)/.test(line)),
  )
  assert.ok(comments.length > 1_000)
  assert.deepEqual(
    comments.filter(({ line }) => line.length > 110).map(({ place }) => place),
    [],
  )
})

/** Asserts that no file of test matches, except one. */
function noTest(pattern: RegExp, except: string): void {
  const tests = globSync('test/**/*.ts', { cwd: root }).filter(path => !path.endsWith(except))
  assert.deepEqual(
    tests.filter(path => pattern.test(readFileSync(join(root, path), 'utf8'))),
    [],
  )
}

test('no test polls without a bound: test/help/until.ts has one', () => {
  noTest(/while \(.*\) await (new Promise\(.*(setImmediate|setTimeout)|(sleep|wait|turn)\()/, 'help/until.ts')
})

test('no test makes fast-check list all characters: test/help/any-text.ts generates them', () => {
  noTest(/\bunit: 'binary'|\bfc\.web(Fragments|Path|QueryParameters|Segment|Url)\(/, 'help/any-text.ts')
})

test('node:http is imported for its types alone: otherwise Node loads undici with it', () => {
  none(({ text }) => /^import (?!type\b)[^']*? from 'node:http'/m.test(text))
})

/** Finds functions that are passed inline to an event or a timer, without `guarded`. One that cannot throw is empty, or has a name. */
function unguarded(text: string): readonly string[] {
  const inline =
    /(?:\.(?:on|once)\(\s*[^\s,()]+,|\b(?:setImmediate|nextTick|setInterval|setTimeout)\()\s*(?!\(\) => \{\}\))((?:async )?\(?[^()]*\)? =>.*)/g
  return Array.from(text.matchAll(inline), ([, handler]) => handler!)
}

test('in the edge, an inline handler of an event or timer is guarded: an exception in it would end the process', () => {
  const edge = files.filter(({ path }) => /(^|\/)edge\//.test(path))
  assert.ok(edge.length > 50)
  assert.deepEqual(
    edge.flatMap(({ path, text }) => unguarded(text).map(handler => `${path}: ${handler}`)),
    [],
  )
})

test('an inline handler is recognized', () => {
  assert.deepEqual(unguarded("s.on('data', guarded(() => read(), crashed))"), [])
  assert.deepEqual(unguarded("s.on('error', () => {})"), [])
  assert.deepEqual(unguarded("s.on('data', bytes => read(bytes))"), ['bytes => read(bytes))'])
  assert.deepEqual(unguarded('s.once(\n  event,\n  (a, b) => read(a))'), ['(a, b) => read(a))'])
  assert.deepEqual(unguarded('setImmediate(async () => {'), ['async () => {'])
})
