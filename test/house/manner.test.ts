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

/** Asserts that no file of test matches, but those so named. */
function noTest(pattern: RegExp, except: string): void {
  const tests = globSync('test/**/*.ts', { cwd: root }).filter(path => !path.endsWith(except))
  assert.deepEqual(
    tests.filter(path => pattern.test(readFileSync(join(root, path), 'utf8'))),
    [],
  )
}

test('no test asks again and again without an end: test/help/until.ts does so with one', () => {
  noTest(/while \(.*\) await (new Promise\(.*(setImmediate|setTimeout)|(sleep|wait|turn)\()/, 'help/until.ts')
})

test('no test has fast-check list all characters: test/help/any-text.ts makes them without', () => {
  noTest(/\bunit: 'binary'|\bfc\.web(Fragments|Path|QueryParameters|Segment|Url)\(/, 'help/any-text.ts')
})

test('node:http is imported for its types alone: otherwise Node loads undici with it', () => {
  none(({ text }) => /^import (?!type\b)[^']*? from 'node:http'/m.test(text))
})

/** Finds what is run for an event of a connection, or in a later turn, without being confined: a bug there would end the process. Names of what is guarded count. */
function unguarded(text: string): readonly string[] {
  const begun =
    /(?:\.(?:on|once)\(\s*(?:'\w+'|event),|\b(?:setImmediate|nextTick|setInterval|setTimeout)\()\s*([\s\S]{0,60})/g
  const isConfined =
    /^(?:(?:this\.#)?guarded\(|\(\) => \{\}\)|reject\)|resolve, |listener\)|this\.#turn[,)]|tick, )/
  return Array.from(text.matchAll(begun), ([, run]) => run!).filter(run => !isConfined.test(run))
}

/** What is confined where it is told, or can only set a promise. */
const confinedElsewhere: Readonly<Record<string, RegExp>> = {
  'edge/client/connection.ts': /^ClientConnection\.#on(Data|End|Drain|Close)\)/,
  'edge/client/http2/http2-writer.ts': /^this\.#flush\)/,
  'edge/origin/http2/http2-connection.ts': /^this\.#readOn\)/,
  'edge/accept/listeners.ts': /^error => this\.#owner\.acceptFailed/,
  'edge/origin/health/health-check.ts': /^\(\) => \{\s*fail\('GH_RESPONSE_TIMEOUT'\)/,
  'edge/origin/health/health-checker.ts': /^\(\) => void this\.#check\(\)/,
}

test('what events and timers of the edge run is guarded', () => {
  const edge = files.filter(({ path }) => /(^|\/)edge\//.test(path))
  assert.ok(edge.length > 50)
  const found = edge.flatMap(({ path, text }) => {
    const own = Object.entries(confinedElsewhere).find(([file]) => path.endsWith(file))?.[1]
    return unguarded(text)
      .filter(run => !own?.test(run))
      .map(run => `${path}: ${run}`)
  })
  assert.deepEqual(found, [])
})

test('an event that is not guarded would be seen', () => {
  assert.deepEqual(unguarded("s.on('data', guarded(read, crashed))"), [])
  assert.deepEqual(unguarded("s.on('data', bytes => read(bytes))"), ['bytes => read(bytes))'])
  assert.deepEqual(unguarded('setImmediate(() => read())'), ['() => read())'])
})
