import { deepEqual, equal, ok } from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseRequestHead, type RequestHead } from '../../../src/http1/heads/request-head.ts'
import type { HeadFault } from '../../../src/http1/heads/request-line.ts'

describe('a request line', () => {
  test('gives method, target and version as they came', () => {
    const head = accepted('PROPFIND /%41/../b//c?d=%00&e|"f" HTTP/1.1\r\nHost: a\r\n\r\n')
    deepEqual([head.method, head.target, head.minor], ['PROPFIND', '/%41/../b//c?d=%00&e|"f"', 1])
  })

  test('gives raw bytes beyond ASCII as latin1', () => {
    equal(accepted('GET /\xc3\xbc HTTP/1.1\r\nHost: a\r\n\r\n').target, '/\xc3\xbc')
  })

  test('may be of version 1.0, which needs no Host', () => {
    const head = accepted('GET / HTTP/1.0\r\n\r\n')
    deepEqual([head.minor, head.version, head.host, head.keepAlive], [0, '1.0', null, false])
  })

  const bad = [
    ['a bare LF as its end', 'GET / HTTP/1.1\nHost: a\r\n\r\n'],
    ['a CR before CRLF', 'GET / HTTP/1.1\r\r\nHost: a\r\n\r\n'],
    ['a space behind the version', 'GET / HTTP/1.1 \r\nHost: a\r\n\r\n'],
    ['two spaces before the target', 'GET  / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['two spaces before the version', 'GET /  HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a tab between its parts', 'GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a space before the method', ' GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a tab before the version', 'GET /\tHTTP/1.1\r\nHost: a\r\n\r\n'],
    ['the sign of a fragment before the version', 'GET /#HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['an empty target', 'CONNECT  HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a space inside the target', 'GET /a b HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a second version inside the target', 'GET / HTTP/1.1 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a NUL inside the target', 'GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a CR inside the target', 'GET /\rX HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a tab inside the target', 'GET /\ta HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['DEL inside the target', 'GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a fragment', 'GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['no target', 'GET HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['no version, as in HTTP/0.9', 'GET /\r\nHost: a\r\n\r\n'],
    ['no version behind the space', 'GET / \r\nHost: a\r\n\r\n'],
    ['no method', ' / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a method that is no token', 'G@T / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a method of 65 bytes', `${'M'.repeat(65)} / HTTP/1.1\r\nHost: a\r\n\r\n`],
    ['a version in small letters', 'GET / http/1.1\r\nHost: a\r\n\r\n'],
    ['a version with two digits', 'GET / HTTP/1.10\r\nHost: a\r\n\r\n'],
    ['a version with a leading nought', 'GET / HTTP/01.1\r\nHost: a\r\n\r\n'],
    ['a version without its minor part', 'GET / HTTP/1\r\nHost: a\r\n\r\n'],
    ['another protocol', 'GET / RTSP/1.0\r\nHost: a\r\n\r\n'],
    ['the hello of TLS', '\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n'],
  ] as const
  for (const [hole, text] of bad) test(`is refused for ${hole}`, () => equal(parse(text), 'bad_request'))

  test('may have a method of 64 bytes', () => {
    equal(accepted(`${'M'.repeat(64)} / HTTP/1.1\r\nHost: a\r\n\r\n`).method.length, 64)
  })

  for (const version of ['HTTP/2.0', 'HTTP/3.0', 'HTTP/0.9', 'HTTP/9.9'])
    test(`is refused by name for ${version}`, () => {
      equal(parse(`GET / ${version}\r\nHost: a\r\n\r\n`), 'http_version_not_supported')
    })

  test('of a later minor version is read as HTTP/1.1', () => {
    for (const version of ['HTTP/1.2', 'HTTP/1.9']) {
      const head = parse(`GET / ${version}\r\nHost: a\r\n\r\n`)
      ok(typeof head !== 'string')
      deepEqual([head.minor, head.version, head.keepAlive], [1, '1.1', true])
    }
    equal(parse('GET / HTTP/1.2\r\n\r\n'), 'bad_request')
  })

  test('is refused by name for the preface of HTTP/2', () => {
    equal(parse('PRI * HTTP/2.0\r\n\r\n'), 'http_version_not_supported')
  })
})

describe('a target', () => {
  const origins = [
    ['http://a.example/b?c', '/b?c'],
    ['HTTP://A.example/b', '/b'],
    ['https://a.example/b', '/b'],
    ['http://a.example', '/'],
    ['http://a.example?c', '/?c'],
    ['http://a.example//b', '//b'],
  ] as const
  for (const [target, path] of origins)
    test(`in absolute form comes down to its path: ${target}`, () => {
      equal(accepted(`GET ${target} HTTP/1.1\r\nHost: a.example\r\n\r\n`).target, path)
    })

  test('in absolute form names the host where HTTP/1.0 has none', () => {
    equal(accepted('GET http://a.example:81/b HTTP/1.0\r\n\r\n').host, 'a.example:81')
  })

  const others = [
    ['another host than Host', 'GET http://b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n'],
    ['another port than Host', 'GET http://a.example:81/ HTTP/1.1\r\nHost: a.example\r\n\r\n'],
    ['userinfo that Host does not have', 'GET http://u@a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n'],
    ['a host that Host only begins with', 'GET http://a.example.evil/ HTTP/1.1\r\nHost: a.example\r\n\r\n'],
    ['a backslash behind the host', 'GET http://a.example\\@b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n'],
    ['no host at all', 'GET http:///b HTTP/1.1\r\nHost: a.example\r\n\r\n'],
    ['a single slash', 'GET http:/a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n'],
    ['another scheme', 'GET ftp://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n'],
  ] as const
  for (const [hole, text] of others)
    test(`in absolute form is refused for ${hole}`, () => equal(parse(text), 'bad_request'))

  test('is a star for OPTIONS only', () => {
    equal(accepted('OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n').target, '*')
    equal(parse('GET * HTTP/1.1\r\nHost: a\r\n\r\n'), 'bad_request')
    equal(parse('OPTIONS ** HTTP/1.1\r\nHost: a\r\n\r\n'), 'bad_request')
  })

  test('is an authority for CONNECT only', () => {
    equal(accepted('CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\n\r\n').target, 'a.example:443')
    equal(parse('GET a.example:443 HTTP/1.1\r\nHost: a\r\n\r\n'), 'bad_request')
  })

  for (const target of ['a', '?a', '\\a', '.', ':80', '@a'])
    test(`is refused where it is no form at all: ${target}`, () => {
      equal(parse(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`), 'bad_request')
    })
})

function parse(text: string): RequestHead | HeadFault {
  const bytes = Buffer.from(text, 'latin1')
  return parseRequestHead(bytes, 0, bytes.length, { url: 100, headerSection: 1000, headers: 100 })
}

function accepted(text: string): RequestHead {
  const head = parse(text)
  ok(typeof head !== 'string', `refused as ${head}`)
  return head
}
