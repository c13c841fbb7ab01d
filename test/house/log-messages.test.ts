// The form of log messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sourceFiles } from '../help/source.ts'

test('log messages begin in lower case, or with a name, and have no full stop', () => {
  const messages = sourceFiles().flatMap(({ text }) =>
    Array.from(withoutComments(text).matchAll(logCall), ([, message]) => message!),
  )
  assert.ok(messages.length > 60, `only ${messages.length} were found`)
  const begins = /^([a-z]|AI |API|DNS |Node |OAuth |Redis |SQLite |TLS |\$\{noun\} |\$\{words\.)/
  // Values are fields, except the kind of file and the state of a store.
  const isOdd = (message: string) =>
    !begins.test(message) ||
    /[.!]$/.test(message) ||
    /\$\{(?!(?:noun|words\.\w+|failure\.state)\})/.test(message)
  assert.deepEqual(messages.filter(isOdd), [])
})

/** A call of a log method whose last argument is the message. */
const logCall =
  /\b#?log\??\.(?:info|warn|error|fatal)\((?:[^()'"`]|\([^()]*\)|['"`][^'"`]*['"`](?=[,:\]]\s*[^)\s]))*?['"`]([^'"`]+)['"`],?\s*\)/g

/** Removes comments. It would also cut a string that contains two slashes after a space; there is none. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}
