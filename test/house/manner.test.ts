// The manner of a file: what can be said of all of them without reading one.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root, type SourceFile, sourceFiles } from '../help/source.ts'

const files = sourceFiles()

/** Asserts that none of the files is such. */
function none(isSuch: (file: SourceFile) => boolean): void {
  assert.deepEqual(
    files.filter(isSuch).map(({ path }) => path),
    [],
  )
}

test('every file begins with a comment that says what it is for', () => {
  none(({ text }) => !/^(#!.*\n)?\/\/ \S/.test(text))
})

test('a blank line parts that comment from the file', () => {
  none(({ text }) => !/^(#!.*\n)?(\/\/.*\n)+(\n|$)/.test(text))
})

test('the comment says why the file exists, and not who calls it, which changes', () => {
  const head = (text: string) => /^(#!.*\n)?((\/\/.*\n)+)/.exec(text)![2]!
  none(({ text }) => /\.ts\b|\b(Called|Used|Asked) (by|once|where)\b/.test(head(text)))
})

test('the comment at the top of a file does not give, tell or say', () => {
  none(({ text }) => /^(#!.*\n)?\/\/ (Gives?|Tells?|Says?)\b/.test(text))
})

/** Lists the first words of the doc comments of a text that stand before what matches. */
function docWords(text: string, what = ''): readonly string[] {
  const comment = new RegExp(`/\\*\\*[\\s*]*(\\S+)(?:(?!\\*/)[^])*\\*/\\s*${what}`, 'g')
  return Array.from(text.matchAll(comment), ([, word]) => word!)
}

test('a doc comment does not give, tell or say', () => {
  none(({ text }) => docWords(text).some(word => /^(Gives?|Tells?|Says?)$/.test(word)))
})

test('the doc comment of an exported function begins with Returns, Whether or another verb in the third person', () => {
  const isVerb = (word: string) => /^(Returns|Whether|As|[A-Z][a-z]+s)\b/.test(word)
  none(({ text }) => !docWords(text, 'export (async )?function\\b').every(isVerb))
})

test('the first word of a doc comment is read in comments of one line and of several', () => {
  const text = '/** Gives a. */\nconst a = 1\n/**\n * Makes b:\n * more.\n */\nexport function b() {}\n'
  assert.deepEqual(docWords(text), ['Gives', 'Makes'])
  assert.deepEqual(docWords(text, 'export function'), ['Makes'])
})

test('no file is a barrel or a drawer', () => {
  none(({ path }) => /(^|\/)(index|utils?|helpers?|common)\.ts$/.test(path))
  none(({ text }) => /^export (\*|\{[^}]*\}) from/m.test(text))
})

test('there are no default exports, no enums, no namespaces', () => {
  none(({ text }) => /^export default|^(export )?(const )?enum |^(export )?namespace /m.test(text))
})

test('constants are written as all other names are', () => {
  none(({ text }) => /^(export )?(const|let) [A-Z][A-Z0-9_]*\b/m.test(text))
})

test('nothing is left for later', () => {
  none(({ text }) => /\b(TODO|FIXME|XXX|HACK)\b/.test(text))
})

test('no test asks again and again without an end: test/help/until.ts does so with one', () => {
  const polling = /while \(.*\) await (new Promise\(.*(setImmediate|setTimeout)|(sleep|wait|turn)\()/
  const tests = globSync('test/**/*.ts', { cwd: root }).filter(path => !path.endsWith('help/until.ts'))
  assert.deepEqual(
    tests.filter(path => polling.test(readFileSync(join(root, path), 'utf8'))),
    [],
  )
})
