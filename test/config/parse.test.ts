import { deepEqual, equal, match, notEqual } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Parsed, parse } from '../../src/config/parse.ts'
import type { Surroundings } from '../../src/config/references.ts'

const example = readFileSync(join(import.meta.dirname, '../../config/examples/sites.yaml'), 'utf8')
const nothing: Surroundings = {
  env: {},
  readFile: () => {
    throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
  },
}

describe('parse', () => {
  test('freezes the configuration to its leaves', () => {
    const parsed = parse(example, nothing)
    equal('config' in parsed && isFrozen(parsed.config), true)
  })

  test('gives the routes of one pool the same pool', () => {
    const parsed = parse(example, nothing)
    const [first, second] = 'config' in parsed ? parsed.config.zones[0]!.routes : []
    notEqual(first?.pool, null)
    equal(first?.pool, second?.pool)
  })

  test('gives mistakes in the order of the file', () => {
    const lines = mistakesOf(parse('zones: [{}]\nname: a b\nworkers: x\nadmin: y\n', nothing)).map(
      ({ line }) => line,
    )
    deepEqual(lines, [1, 2, 3, 4])
  })

  test('counts a byte order mark for nothing', () => {
    equal('config' in parse(`\uFEFF${example}`, nothing), true)
  })

  test('refuses a text beyond 1 MiB, unread', () => {
    match(onlyMessage(parse(`zones: []\n#${'x'.repeat(2 ** 20)}`, nothing)), /larger than 1 MiB/)
  })

  test('refuses values nested without end', () => {
    match(
      onlyMessage(parse(`zones: ${'['.repeat(40)}${']'.repeat(40)}`, nothing)),
      /nested more than 32 deep/,
    )
    notEqual(mistakesOf(parse('['.repeat(100_000), nothing)).length, 0)
    notEqual(mistakesOf(parse('- '.repeat(100_000), nothing)).length, 0)
  })
})

describe('any text gives a configuration or mistakes', () => {
  test('of any characters', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 200 }), isSound))
  })

  test('of the pieces of YAML', () => {
    const pieces = [
      '\n',
      '  ',
      ' ',
      '\t',
      '- ',
      ': ',
      ',',
      '[',
      ']',
      '{',
      '}',
      '? ',
      '&a ',
      '*a',
      '!t ',
      '| ',
      '"',
      "'",
      '#',
      '---',
      '...',
    ]
    const words = [
      'zones',
      'hosts',
      'pools',
      'origins',
      'routes',
      'path',
      '/',
      'a.example',
      'http://a',
      'off',
      '1s',
      `\${A}`,
      'file:x',
      '~',
    ]
    const piece = fc.constantFrom(...pieces, ...words)
    const text = fc.array(piece, { maxLength: 60 }).map(pieces => pieces.join(''))
    fc.assert(fc.property(text, isSound), { numRuns: 1000 })
  })

  test('of a good configuration with one part cut out or put in elsewhere', () => {
    const place = fc.nat(example.length)
    fc.assert(
      fc.property(place, place, place, (a, b, c) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)]
        isSound(example.slice(0, from) + example.slice(to))
        isSound(example.slice(0, c) + example.slice(from, to) + example.slice(c))
      }),
    )
  })

  test('of any values in the places of a good one', () => {
    const value = fc.oneof(
      fc.string(),
      fc.constantFrom(null, true, '', `\${A}`, 'file:x'),
      fc.double(),
      fc.jsonValue({ maxDepth: 2 }),
    )
    const route = fc.record(
      { path: value, pool: value, host: value, body: value, timeouts: value },
      { requiredKeys: [] },
    )
    const zone = fc.record(
      { name: value, hosts: value, default: value, routes: fc.oneof(value, fc.array(route)) },
      { requiredKeys: [] },
    )
    const origin = fc.record(
      { url: value, verify: value, server_name: value, ca: value },
      { requiredKeys: [] },
    )
    const config = fc.record({
      listen: value,
      trusted_proxies: value,
      limits: value,
      pools: fc.dictionary(fc.string(), fc.record({ origins: fc.array(fc.oneof(value, origin)) })),
      zones: fc.array(zone),
    })
    fc.assert(fc.property(config, config => isSound(JSON.stringify(config))))
  })
})

test('no message holds what a reference stands for', () => {
  const text = `
name: "\${S}"
workers: x\${S}
listen: ["\${S}"]
admin: "\${S}:80"
trusted_proxies: ["\${S}"]
errors: { documentation: "\${S}" }
limits: { url: "\${S}", requests_per_connection: "\${S}" }
timeouts: { idle: "\${S}" }
log: { level: "\${S}", access: "\${S}", sample: { 2xx: "\${S}" } }
pools: { main: { origins: ["http://\${S}", { url: "\${S}", verify: "\${S}", server_name: "\${S}", ca: "\${S}" }] } }
zones: [{ hosts: ["\${S}"], routes: [{ path: "\${S}", pool: "\${S}", host: "\${S}", body: "\${S}" }] }, "\${S}"]
`
  fc.assert(
    fc.property(fc.stringMatching(/^ [!-~]{12,100}$/), secret => {
      const mistakes = mistakesOf(parse(text, { ...nothing, env: { S: secret } }))
      equal(mistakes.length, text.split('S}').length - 1)
      for (const { message } of mistakes) equal(message.includes(secret.trim()), false)
    }),
  )
})

function isSound(text: string): void {
  const parsed = parse(text, nothing)
  if ('config' in parsed) return
  equal(parsed.mistakes.length > 0, true)
  const lines = text.split('\n').length
  for (const { line, column, message } of parsed.mistakes) {
    equal(
      line >= 1 && line <= lines && column >= 1 && message.length > 0,
      true,
      `${line}:${column} ${message}`,
    )
  }
}

function mistakesOf(parsed: Parsed) {
  return 'mistakes' in parsed ? parsed.mistakes : []
}

function onlyMessage(parsed: Parsed): string {
  equal(mistakesOf(parsed).length, 1)
  return mistakesOf(parsed)[0]!.message
}

function isFrozen(value: unknown): boolean {
  return (
    typeof value !== 'object' ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(isFrozen))
  )
}
