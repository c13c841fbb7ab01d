// The JSON Schema that editors check a configuration with: it refuses nothing that Gatehouse accepts, and what is wrong in shape.

import { deepEqual, equal, match, notEqual } from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { parse as load } from 'yaml'
import { jsonSchema, withCommented } from '../../../src/config/load/json-schema.ts'
import { parse } from '../../../src/config/load/parse.ts'
import type { Form } from '../../../src/config/shape/value-schema.ts'
import { goldenConfigs, surroundings } from '../../help/golden-config.ts'
import { root } from '../../help/source.ts'
import { thorough } from '../../help/thorough.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const explained = read('config/gatehouse.yaml')
const schema = jsonSchema(explained)
// Editors use errorMessage in place of their own words.
const ajv = new Ajv({
  allErrors: true,
  allowUnionTypes: true,
  strict: true,
  strictTypes: false,
  strictNumbers: false,
})
ajv.addKeyword('errorMessage')
const validate = ajv.compile(schema)

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Returns what is wrong with a file, as the schema has it; YAML is read as editors do. */
function faults(text: string): readonly string[] {
  validate(load(text, { merge: true, logLevel: 'silent' }))
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

function isAccepted(text: string): boolean {
  return 'config' in parse(text, surroundings)
}

describe('files that Gatehouse accepts are accepted by the schema', () => {
  const shipped = globSync(['config/*.yaml', 'config/examples/*.yaml'], { cwd: root })

  for (const path of shipped)
    test(`${path}, with and without what is behind a #, and its first line leads there`, () => {
      deepEqual([faults(read(path)), faults(withCommented(read(path)))], [[], []])
      const [, named] = /^# yaml-language-server: \$schema=(.+)\n/.exec(read(path)) ?? []
      equal(join(root, path, '..', named ?? ''), join(root, 'config/gatehouse.schema.json'))
    })

  test('every golden one', () => {
    const accepted = goldenConfigs.filter(({ text }) => isAccepted(text))
    equal(accepted.length > 70, true)
    deepEqual(
      accepted.map(({ name, text }) => [name, ...faults(text)]),
      accepted.map(({ name }) => [name]),
    )
  })

  test('any with other values in their places, however YAML reads these', () => {
    let count = 0
    fc.assert(
      fc.property(anyPlace, fc.constantFrom(...plainValues), ({ base, path }, value) => {
        const text = JSON.stringify(withValue(base, path, '@@')).replace('"@@"', value)
        if (!isAccepted(text)) return
        count++
        deepEqual(faults(text), [], `${path.join('.')}: ${value}`)
      }),
      { numRuns: thorough(2000, 150) },
    )
    equal(count > thorough(50, 4), true, 'hardly any was accepted')
  })
})

describe('what is wrong in shape is refused by both', () => {
  const wrong: Readonly<Record<string, string>> = {
    'an unknown setting': 'listne: [0.0.0.0:80]\nzones: []',
    'an unknown setting in a zone': 'zones: [{ host: a.example }]',
    'a missing setting': 'pools: {}',
    'a missing setting within another': 'zones: [{ routes: [{ pool: a }] }]',
    'a value in place of a list': 'listen: 80\nzones: []',
    'a value in place of a mapping': 'log: debug\nzones: []',
    'a list in place of a value': 'name: [a]\nzones: []',
    'a list in place of a mapping': 'pools: [a]\nzones: []',
    'nothing in place of a value': 'name:\nzones: []',
    'too few items': 'listen: []\nzones: []',
    'a number beyond the range': 'workers: 65\nzones: []',
    'a number with a fraction': 'limits: { headers: 20.5 }\nzones: []',
    'a share beyond the range': 'log: { sample: { 2xx: 1.5 } }\nzones: []',
    'another word': 'log: { level: loud }\nzones: []',
    'another word than true or false': 'proxy_status: yes\nzones: []',
    'a duration without a unit': 'timeouts: { connect: 10 }\nzones: []',
    'a duration with an unknown unit': 'timeouts: { connect: 10min }\nzones: []',
    'a size without a unit': 'limits: { body: 1000 }\nzones: []',
    'a rate without a time': 'management: { writes: 100 }\nzones: []',
    'a port in place of an address': 'listen: [8080]\nzones: []',
    'an origin without a scheme': 'pools: { a: { origins: [10.0.0.1:9000] } }\nzones: []',
    'a star in place of a host': "zones: [{ hosts: ['*'] }]",
    'a path that is none': 'zones: [{ routes: [{ path: api }] }]',
    'a name with a space': 'pools: { a b: {} }\nzones: []',
    'an unknown provider': 'ai: { providers: { opneai: {} } }\nzones: []',
  }
  for (const [title, text] of Object.entries(wrong))
    test(title, () => deepEqual([isAccepted(text), faults(text).length > 0], [false, true]))

  test('anything of another kind in any place, and unknown settings anywhere', () => {
    const strange = fc.constantFrom<Json>({ zz_unknown: [[]] }, [[]], [[{ zz_unknown: [] }]])
    fc.assert(
      fc.property(anyPlace, strange, ({ base, path }, value) => {
        const text = JSON.stringify(withValue(base, path, value))
        if (isAccepted(text)) return
        notEqual(faults(text).length, 0, `${path.join('.')}: ${JSON.stringify(value)}`)
      }),
      { numRuns: thorough(500, 60) },
    )
  })
})

test('defaults are those that are in effect', () => {
  const base = 'zones: [{ hosts: [a.example], routes: [{ path: /, pool: main }] }]'
  const { zones: _, pools, ...rest } = schema.properties as Record<string, Form>
  const stated = defaultsOf({ type: ['object', 'null'], properties: rest }) as object
  const ofPool = defaultsOf(pools!.additionalProperties as Form) as object
  const main = { ...ofPool, origins: ['http://127.0.0.1:9000'] }
  const whole = { ...stated, ...(load(base) as object), pools: { main } }
  equal(JSON.stringify(whole).length > 1500, true)
  const usual = `${base}\npools: { main: { origins: [http://127.0.0.1:9000] } }`
  deepEqual(
    withoutLines(parse(JSON.stringify(whole), surroundings)),
    withoutLines(parse(usual, surroundings)),
  )
})

test('settings are described by the comments above them, with the limits that no pattern has', () => {
  const { name, client, access, rate_limits } = schema.properties as Record<string, Form>
  match(name!.description!, /^The name of this gateway in Via and CDN-Loop\. .+ with error 1000\.$/)
  equal(
    client!.properties!.keep_alive!.description,
    'How long a connection may be idle between requests.\n\nFrom 1ms to 1h.',
  )
  equal(access!.properties!.rules!.description, undefined)
  const definitions = schema.definitions as Record<string, Form>
  equal(rate_limits!.items!.$ref, '#/definitions/rate_limits')
  equal(
    definitions.rate_limits!.properties!.action!.description,
    'block, or log, which only counts and logs.',
  )
  // What is said of the first of several rules is not about all of them.
  for (const { properties } of Object.values(definitions)) equal(properties?.deny?.description, undefined)
})

test('a configuration without comments leaves settings without descriptions', () => {
  for (const text of ['', 'zones: [', 'zones: []']) {
    const bare = jsonSchema(text)
    equal((bare.properties as Record<string, Form>).name!.description, undefined)
    deepEqual(bare.required, ['zones'])
  }
})

/** Configurations that have every setting, as editors read them. */
const bases = goldenConfigs
  .filter(({ name }) => name.endsWith('every-setting'))
  .map(({ text }) => load(text, { merge: true }) as Json)

const anyPlace = fc.constantFrom(...bases.flatMap(base => placesIn(base).map(path => ({ base, path }))))

/** Values as they are written, which YAML reads as numbers, booleans, nothing or texts. */
const plainValues = [
  '0',
  '1',
  '2',
  '10',
  '64',
  '65',
  '404',
  '1000',
  '0.5',
  '1.0',
  '1.2',
  '.5',
  '1e3',
  '0x10',
  '0o7',
  '007',
  '-1',
  '+1',
  '.inf',
  '.nan',
  '11111111111111111111111111111111',
  'true',
  'false',
  'True',
  'on',
  'off',
  'yes',
  'null',
  '~',
  'Null',
  '""',
  "'10'",
  "'true'",
  '10s',
  '1m',
  '100ms',
  '1KiB',
  '10MiB',
  '2KiB/s',
  '10/s',
  '600/10m',
  'ttl',
  'auto',
  'all',
  'h2c',
  'a.example',
  "'*.a.example'",
  '/x',
  'header X-A',
  'hash header X-A',
  '127.0.0.1',
  '10.0.0.0/8',
  '0.0.0.0:80',
  'http://10.0.0.1',
  'https://a.example/v1',
  'DE',
  'text/*',
  'sqlite:x.db',
  `'\${HOST}'`,
  `'\${PORT}'`,
  `'\${WORKERS}'`,
  `'\${EMPTY}'`,
  `'\${NONE:-off}'`,
  `'\${NONE:-10s}'`,
  'file:ca.pem',
  '[]',
  '{}',
  '[a]',
  '[1]',
  '[10.0.0.1]',
  '[[]]',
  '{ a: 1 }',
]

function placesIn(value: Json, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([key, child]) => placesIn(child, [...path, key]))]
}

function withValue(base: Json, [key, ...rest]: readonly string[], value: Json): Json {
  if (key === undefined) return value
  const next = withValue((base as Record<string, Json>)[key]!, rest, value)
  return Array.isArray(base) ? base.with(Number(key), next) : { ...(base as object), [key]: next }
}

/** What its name alone turns on has no defaults of its own. */
const optionalGroups: ReadonlySet<unknown> = new Set(['otlp', 'log_export'])

/** Returns all defaults of a mapping. */
function defaultsOf({ default: usual, properties, type }: Form): unknown {
  if (usual !== undefined || !properties || !type?.includes('null')) return usual
  const entries = Object.entries(properties).map(([key, one]) => [key, defaultsOf(one)])
  return Object.fromEntries(entries.filter(([key, one]) => one !== undefined && !optionalGroups.has(key)))
}

function withoutLines(parsed: object): unknown {
  return JSON.parse(JSON.stringify(parsed, (key, value) => (key === 'line' ? undefined : value)))
}
