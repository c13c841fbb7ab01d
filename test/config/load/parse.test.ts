import { deepEqual, equal, match, notEqual } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Parsed, parse } from '../../../src/config/load/parse.ts'
import type { Surroundings } from '../../../src/config/file/references.ts'
import { anyCharacter } from '../../help/any-text.ts'
import { thorough } from '../../help/thorough.ts'

const examples = join(import.meta.dirname, '../../../config/examples')
const example = readFileSync(join(examples, 'sites.yaml'), 'utf8')
const aiExample = readFileSync(join(examples, 'ai-gateway.yaml'), 'utf8')
const nothing: Surroundings = {
  env: {},
  readFile: findNothing,
  findFile: findNothing,
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

  test('remembers the lines of rules, limits and routes', () => {
    const text = `
access:
  rules:
    - deny: { ip: 10.0.0.1 }
rate_limits:
  - { name: all, rate: 5/min }
errors:
  rules:
    - { when: 'true', content: x, content_type: text/plain }
zones:
  - hosts: [a.test]
    routes:
      - path: /
`
    const parsed = parse(text, nothing)
    if (!('config' in parsed)) throw new Error(JSON.stringify(parsed))
    const { access, rateLimits, errors, zones } = parsed.config
    const placed = [access.rules[0], rateLimits[0], errors.rules[0], zones[0]!.routes[0]]
    deepEqual(
      placed.map(one => one!.line),
      [4, 6, 9, 13],
    )
  })

  test('gives mistakes in the order of the file', () => {
    const lines = mistakesOf(parse('zones: [{}]\nname: a b\nworkers: x\nadmin: y\n', nothing)).map(
      ({ line }) => line,
    )
    deepEqual(lines, [1, 2, 3, 4])
  })

  test('ignores a byte order mark', () => {
    equal('config' in parse(`\uFEFF${example}`, nothing), true)
  })

  test('treats every tag as a mistake, on values and on keys', () => {
    const tags = ['binary', 'bool', 'float', 'int', 'merge', 'null', 'omap', 'pairs', 'set', 'timestamp', 'x']
    for (const tag of tags)
      for (const value of ['aGk=', '5', '2026-01-01', '{ a: 1 }', '[a: 1, { b: 2 }]', '[a]', ''])
        for (const text of [`name: !!${tag} ${value}`, `!!${tag} ${value}`, `? !!${tag} ${value}\n: x`])
          notEqual(mistakesOf(parse(`${text}\n`, nothing)).length, 0, text)
  })

  test('refuses a text beyond 1 MiB, unread', () => {
    match(onlyMessage(parse(`zones: []\n#${'x'.repeat(2 ** 20)}`, nothing)), /larger than 1 MiB/)
  })

  test('refuses more than a thousand rules in one list', () => {
    const rules = (count: number) => `[${'deny: { ip: 10.0.0.1 }, '.repeat(count)}]`
    equal('config' in parse(`access: { rules: ${rules(1000)} }\nzones: []`, nothing), true)
    equal(
      onlyMessage(parse(`access: { rules: ${rules(1001)} }\nzones: []`, nothing)),
      'rules must have at most 1000 items',
    )
  })

  test('accepts contents of errors up to their limits', () => {
    const read = (rule: number, page: number): string[] => {
      const readFile = (path: string): string => 'ü'.repeat((path === 'rule' ? rule : page) / 2)
      const text = `
errors:
  rules: [{ when: 'true', content: file:rule, content_type: text/plain }]
  pages: { 500_errors: file:page }
zones: []`
      return mistakesOf(parse(text, { ...nothing, readFile })).map(({ message }) => message)
    }
    deepEqual(read(10_240, 1_500_000), [])
    deepEqual(read(10_242, 1_500_002), [
      'content must be 1 B to 10KiB of text',
      '500_errors must be 1 B to 1.5MB of text',
    ])
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
    fc.assert(fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), isSound))
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
    fc.assert(fc.property(text, isSound), { numRuns: thorough(1000, 100) })
  })

  for (const good of [example, aiExample]) {
    test('of a good configuration with one part cut out or put in elsewhere', () => {
      const place = fc.nat(good.length)
      fc.assert(
        fc.property(place, place, place, (a, b, c) => {
          const [from, to] = [Math.min(a, b), Math.max(a, b)]
          isSound(good.slice(0, from) + good.slice(to))
          isSound(good.slice(0, c) + good.slice(from, to) + good.slice(c))
        }),
        { numRuns: thorough(100, 40) },
      )
    })
  }

  test('of any values in the places of a good one', () => {
    const value = fc.oneof(
      fc.string(),
      fc.constantFrom(null, true, '', `\${A}`, 'file:x'),
      fc.double(),
      fc.jsonValue({ maxDepth: 2 }),
    )
    const route = fc.record(
      {
        path: value,
        pool: value,
        host: value,
        body: value,
        timeouts: value,
        redirects: value,
        rewrite: fc.oneof(
          value,
          fc.record(
            { path: value, request_headers: fc.dictionary(fc.string(), value) },
            { requiredKeys: [] },
          ),
        ),
      },
      { requiredKeys: [] },
    )
    const condition = fc.record(
      { ip: value, list: value, country: value, asn: value, referer: value, path: value, expression: value },
      { requiredKeys: [] },
    )
    const rule = fc.oneof(
      value,
      fc.record({ allow: fc.oneof(value, condition) }),
      fc.record({ deny: condition }),
    )
    const access = fc.record({ rules: fc.array(rule), default: value, ban: value }, { requiredKeys: [] })
    const rateLimits = fc.array(
      fc.record({ name: value, rate: value, key: value, when: value }, { requiredKeys: [] }),
    )
    const errors = fc.record(
      {
        documentation: value,
        rules: fc.array(fc.record({ when: value, content: value, content_type: value })),
        pages: fc.dictionary(fc.constantFrom('500_errors', 'ip_block', 'a'), value),
      },
      { requiredKeys: [] },
    )
    const zone = fc.record(
      {
        name: value,
        hosts: value,
        default: value,
        account: value,
        access: fc.oneof(value, access),
        rate_limits: rateLimits,
        quota: fc.oneof(value, fc.record({ day: value })),
        errors,
        routes: fc.oneof(value, fc.array(route)),
      },
      { requiredKeys: [] },
    )
    const origin = fc.record(
      { url: value, weight: value, verify: value, server_name: value, ca: value },
      { requiredKeys: [] },
    )
    const pool = fc.record(
      {
        origins: fc.array(fc.oneof(value, origin)),
        balance: value,
        retries: fc.oneof(value, fc.record({ most: value })),
        ejection: fc.oneof(value, fc.record({ base: value, longest: value })),
        check: fc.oneof(value, fc.record({ path: value, interval: value, timeout: value, status: value })),
      },
      { requiredKeys: [] },
    )
    const provider = fc.record(
      { url: value, keys: fc.oneof(value, fc.array(value)), speaks: value, resources: value, ca: value },
      { requiredKeys: [] },
    )
    const providerName = fc.oneof(fc.constantFrom('openai', 'azure-openai', 'custom-a'), fc.string())
    const ai = fc.record(
      {
        hosts: fc.oneof(value, fc.array(value)),
        body: value,
        timeouts: value,
        providers: fc.dictionary(providerName, fc.oneof(value, provider)),
        prices: fc.dictionary(fc.string(), fc.oneof(value, fc.record({ input: value, output: value }))),
      },
      { requiredKeys: [] },
    )
    const config = fc.record({
      listen: value,
      store: fc.oneof(value, fc.record({ url: value, command_timeout: value, grace: value })),
      ai: fc.oneof(value, ai),
      trusted_proxies: value,
      limits: value,
      lists: fc.oneof(value, fc.dictionary(fc.string(), value)),
      geo: fc.oneof(value, fc.record({ databases: value })),
      access,
      rate_limits: rateLimits,
      errors,
      pools: fc.dictionary(fc.string(), fc.oneof(value, pool)),
      zones: fc.array(zone),
    })
    fc.assert(
      fc.property(config, config => isSound(JSON.stringify(config))),
      {
        numRuns: thorough(300, 20),
      },
    )
  })
})

test('a provider called as a member of all objects is an unknown one', () => {
  for (const name of ['valueOf', 'toString', 'constructor', '__proto__'])
    isSound(JSON.stringify({ zones: [] }).replace('{', `{"ai":{"providers":{"${name}":{}}},`))
})

test('no message contains the content of a reference', () => {
  const text = `
name: "\${S}"
workers: x\${S}
listen: ["\${S}"]
admin: "\${S}:80"
trusted_proxies: ["\${S}"]
errors:
  documentation: "\${S}"
  rules:
    - { when: "\${S}", content: a, content_type: "\${S}", status: "\${S}" }
  pages: { 500_errors: ["\${S}"] }
lists: { a: "\${S}" }
geo: { databases: "\${S}" }
access:
  rules:
    - deny: "\${S}"
    - deny: { ip: "\${S}" }
    - deny: { list: "\${S}" }
    - deny: { country: "\${S}" }
    - deny: { asn: "\${S}" }
    - deny: { referer: "\${S}" }
    - deny: { path: "\${S}" }
  ban: { refusals: "\${S}", within: "\${S}" }
rate_limits: [{ name: "\${S}", rate: "\${S}", key: "\${S}", when: "\${S}", action: "\${S}" }]
limits: { url: "\${S}", requests_per_connection: "\${S}" }
timeouts: { idle: "\${S}" }
log: { level: "\${S}", access: "\${S}", sample: { 2xx: "\${S}" } }
store: { url: "\${S}", command_timeout: "\${S}", grace: "\${S}" }
ai:
  hosts: ["\${S}"]
  body: "\${S}"
  timeouts: { response: "\${S}" }
  providers:
    openai: "\${S}"
    mistral: { keys: "\${S}", verify: "\${S}", ca: "\${S}" }
    azure-openai: { keys: ["\${S}"], resources: ["\${S}"] }
    custom-a: { url: "\${S}", speaks: "\${S}" }
    custom-b: { url: "https://llm.example/\${S}" }
  prices: { openai/a: { input: "\${S}", output: "\${S}" } }
pools:
  main:
    origins: ["http://\${S}", { url: "\${S}", verify: "\${S}", server_name: "\${S}", ca: "\${S}" }]
    balance: "\${S}"
    check: "\${S}"
    dns: { refresh: "\${S}" }
zones: [{ hosts: ["\${S}"], routes: [{ path: "\${S}", pool: "\${S}", host: "\${S}", body: "\${S}", rewrite: { path: "\${S}", request_headers: { X-A: "\${S}" } } }] }, "\${S}"]
`
  fc.assert(
    fc.property(fc.stringMatching(/^ \)[!-~]{12,100}$/), secret => {
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

function findNothing(): never {
  throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
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
