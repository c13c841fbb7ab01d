// The words of what operators and callers read: one word for one thing, and log messages of one form.

import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root, sourceFiles } from '../help/source.ts'

/** What strings must not say, and what they say instead. */
const banned: readonly [phrase: RegExp, instead: string][] = [
  [/\b(can not|can't)\b/, 'cannot'],
  [/\b(answers?|answered|answering)\b/, 'response, responds'],
  [/\bwaiting line\b/, 'queue'],
  [/\b(store|Redis|server|gateway) (is|was|are) (away|gone|silent)\b|\bslow or away\b/, 'unreachable'],
  [/\b(is|was|were) (not )?read anew\b|\banew\b/, 'reloaded, again'],
  [/\b[Ww]hoever\b/, 'anyone who, the operator, the author'],
  [/\bstands? (in|on|beside|more than|already|twice|once)\b/, 'duplicates, is in, cannot be combined with'],
  [/\bthere is no (command|such|function|permission)\b/i, 'unknown, not found'],
  [/\b(not|that is) known here\b|\bknows? no such\b/, 'unknown'],
  [/\bmust be (without|with another)\b/, 'must not have'],
  [/\bmust (not )?hold\b/, 'must contain, must include'],
  [/\bthis once\b|\bfor ever\b/, 'only once, irreversible'],
  [/\b(is|are|was) asked again\b|\bask again\b/, 'retry'],
  [/\bin force\b/, 'in effect'],
  [/\bunless (given|set)\b|\bwhen left out\b/, 'by default'],
  [/\bmust come once\b/, 'must be given once'],
  [/\bof no use to retry\b/, 'not retryable'],
  [/\breplaced? (it|the \w+) by\b/, 'replace … with'],
  [/\bthe people who run\b/, 'the operator'],
]

const sources = sourceFiles().map(({ path, text }) => ({ path, text: withoutComments(text) }))

test('no string says what the glossary has another word for', () => {
  const found = sources.flatMap(({ path, text }) =>
    sentencesOf(text).flatMap(sentence =>
      banned
        .filter(([phrase]) => phrase.test(sentence))
        .map(([phrase, instead]) => `${path}: ${phrase.exec(sentence)![0]} (${instead}): ${sentence}`),
    ),
  )
  assert.deepEqual(found, [])
})

test('log messages begin in lower case, or with a name, and have no full stop', () => {
  const messages = sources.flatMap(({ text }) => [...text.matchAll(logCall)].map(([, message]) => message!))
  assert.ok(messages.length > 60, `only ${messages.length} were found`)
  const begins = /^([a-z]|AI |API|DNS |Node |OAuth |Redis |SQLite |TLS |\$\{noun\} |\$\{words\.)/
  // Values are fields; what kind of file it is about, and what is wrong with a store, are part of the message.
  const isOdd = (message: string) =>
    !begins.test(message) ||
    /[.!]$/.test(message) ||
    /\$\{(?!(?:noun|words\.\w+|failure\.state)\})/.test(message)
  assert.deepEqual(messages.filter(isOdd), [])
})

/** What comments and the titles of tests must not say, and what they say instead. */
const bannedInProse: readonly [phrase: RegExp, instead: string][] = [
  [/\b(store|Redis|server|provider|gateway)( that)? (is|was|stays?|goes|went) away\b/, 'unreachable'],
  [/\b[Aa]new\b/, 'again, starts over'],
  [/\bin force\b/, 'in effect'],
  [/\bcan not\b/, 'cannot'],
  [/\bfor ever\b/, 'forever, irreversible'],
  [/\b[Aa]ll that is wrong\b/, 'all mistakes'],
  [/\bwait(s|ing)? in line\b|\bwaiting line\b/, 'queued'],
  [/\bby and by\b/, 'gradually'],
  [/\btold (in a sentence|at once)\b/, 'reported'],
]

/** Returns each phrase of prose that has a better one, with its file. */
function flawsOf(path: string, prose: readonly string[]): readonly string[] {
  return prose.flatMap(line =>
    bannedInProse
      .filter(([phrase]) => phrase.test(line))
      .map(([, instead]) => `${path}: ${line.trim()} (${instead})`),
  )
}

test('no comment says what the glossary has another word for', () => {
  const found = sourceFiles().flatMap(({ path, text }) =>
    flawsOf(path, text.match(/^\s*(\/\/|\/?\*).*$/gm) ?? []),
  )
  assert.deepEqual(found, [])
})

test('no title of a test says what the glossary has another word for', () => {
  const found = globSync('test/**/*.ts', { cwd: root }).flatMap(path =>
    flawsOf(path, readFileSync(join(root, path), 'utf8').match(/\btest\((['"`]).*\1/g) ?? []),
  )
  assert.deepEqual(found, [])
})

/** A call of the log, up to the message that ends it. */
const logCall =
  /\b#?log\??\.(?:info|warn|error|fatal)\((?:[^()'"`]|\([^()]*\)|['"`][^'"`]*['"`](?=[,:\]]\s*[^)\s]))*?['"`]([^'"`]+)['"`],?\s*\)/g

/** Blanks comments out; a string with two slashes after a space would suffer too, and there is none. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}

/** Returns the strings of a source that are sentences: two words at least, and no Lua or SQL. */
function sentencesOf(text: string): readonly string[] {
  return [...text.matchAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g)]
    .map(([quoted]) => quoted.slice(1, -1).replace(/\$\{[^}]*\}/g, '…'))
    .filter(written => /[a-z…] [a-z…]/i.test(written) && !/redis\.call|\bFROM\b|<style|<main/.test(written))
}
