import { equal } from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isPlainPath, leads, normalPath } from '../../../src/base/path/path.ts'

describe('normalPath', () => {
  const forms = [
    ['/', '/'],
    ['/a/b', '/a/b'],
    ['/a/b/', '/a/b/'],
    ['/a?b/../c', '/a'],
    ['/public/../admin/', '/admin/'],
    ['/public/%2e%2E/admin', '/admin'],
    ['/public/.%2e/admin', '/admin'],
    ['/a/./b/.', '/a/b/'],
    ['/a/b/..', '/a/'],
    ['/a/..', '/'],
    ['/../../etc', '/etc'],
    ['//a///b//', '/a/b/'],
    ['/%61dmin', '/admin'],
    ['/a%2fb', '/a%2Fb'],
    ['/a%20b', '/a%20b'],
    ['/%40a%21%27%7c', "/@a!'|"],
    ['/%3b%3f%23%25%5c', '/%3B%3F%23%25%5C'],
    ['/caf\xc3\xa9', '/caf%C3%A9'],
    ['/caf%c3%A9', '/caf%C3%A9'],
    ['/a%2', '/a%252'],
    ['/a%2/%4x', '/a%252/%254x'],
    ['/.well-known/x', '/.well-known/x'],
    ['/a...', '/a...'],
    ['/%', '/%25'],
    ['/%6%31dmin', '/%2561dmin'],
    ['*', '*'],
    ['', ''],
  ] as const
  for (const [path, normal] of forms)
    test(`makes "${normal}" of "${path}"`, () => equal(normalPath(path), normal))

  for (const [prefix, path, isLed] of [
    ['/admin', '/admin', true],
    ['/admin', '/admin/x', true],
    ['/admin', '/admin?x', true],
    ['/admin', '/administration', false],
    ['/admin', '/adm', false],
    ['/admin', '/x/admin', false],
    ['/admin/', '/admin/x', true],
    ['/admin/', '/admin', false],
    ['/', '/anything', true],
  ] as const)
    test(`${prefix} leads ${isLed ? '' : 'not to '}${path}`, () => equal(leads(prefix, path), isLed))

  for (const path of ['/a;b', '/a\\b', '/%61', '//', '/.', '/\xe9'])
    test(`${path} is not plain`, () => equal(isPlainPath(path), false))

  test('leaves alone what is plain', () => {
    fc.assert(
      fc.property(targets(), target => {
        if (isPlainPath(target)) equal(normalPath(target), target.split('?', 1)[0])
      }),
    )
  })

  test('leaves no dot segment and no doubled slash in a path', () => {
    fc.assert(fc.property(targets(), target => equal(/\/\.{0,2}\//.test(`${normalPath(target)}x`), false)))
  })
})

function targets(): fc.Arbitrary<string> {
  const piece = fc.constantFrom('/', '.', '..', '%2e', '%2F', '%', 'a', 'B', '?', '~', '%41')
  return fc.array(piece, { maxLength: 12 }).map(pieces => `/${pieces.join('')}`)
}
