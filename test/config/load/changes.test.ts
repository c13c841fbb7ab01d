// What a change of the file changes, by the names of its settings.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changesBetween } from '../../../src/config/load/changes.ts'
import { parse } from '../../../src/config/load/parse.ts'
import type { Form } from '../../../src/config/shape/value-schema.ts'
import { schema } from '../../../src/config/settings/schema.ts'

function configOf(yaml: string) {
  const surroundings = { env: {}, readFile: () => '', findFile: (path: string) => path }
  const parsed = parse(yaml, surroundings)
  assert.ok('config' in parsed, JSON.stringify(parsed))
  return parsed.config
}

const pools = "pools: {a: {origins: ['http://127.0.0.1:9000']}, b: {origins: ['http://127.0.0.1:9001']}}\n"
const site = (more = '') => `  - {name: site, hosts: [localhost], routes: [{path: /, pool: a}]${more}}\n`
const shop = '  - {name: my.shop, hosts: [shop.example], routes: [{path: /, pool: b}]}\n'

const none = { changed: [], added: [], removed: [] }

const edits = {
  'a comment and blank lines move everything': [
    `${pools}zones:\n${site()}`,
    `# new\n\n${pools}\nzones:\n${site()}`,
    none,
  ],
  'settings of a group': [
    `${pools}limits: {url: 4KiB}\nzones:\n${site()}`,
    `${pools}limits: {url: 8KiB}\nlog: {sample: {2xx: 0}}\nzones:\n${site()}`,
    { ...none, changed: ['limits.url', 'log.sample.2xx'] },
  ],
  'names that the configuration has otherwise': [
    `${pools}zones:\n${site()}`,
    `${pools}trusted_proxies: [192.0.2.1]\ntls: {public_port: 8443}\nzones:\n${site(', default: true')}`,
    { ...none, changed: ['tls.public_port', 'trusted_proxies', 'zones.site.default'] },
  ],
  'zones that come and go': [
    `${pools}zones:\n${site()}`,
    `${pools}zones:\n${shop}`,
    { changed: [], added: ['zones["my.shop"]'], removed: ['zones.site'] },
  ],
  'the order of zones': [
    `${pools}zones:\n${site()}${shop}`,
    `${pools}zones:\n${shop}${site()}`,
    { ...none, changed: ['zones'] },
  ],
  'the pool of a route': [
    `${pools}zones:\n${site()}${shop}`,
    `${pools.replace('9000', '9009')}zones:\n${site()}${shop}`,
    { ...none, changed: ['zones.site.routes'] },
  ],
  'a key of a provider': [
    `ai: {hosts: [ai.example], providers: {openai: {keys: [SECRET-ONE]}}}\nzones: []`,
    `ai: {hosts: [ai.example], providers: {openai: {keys: [SECRET-TWO]}}}\nzones: []`,
    { ...none, changed: ['ai.providers.openai'] },
  ],
} as const

for (const [what, [before, after, changes]] of Object.entries(edits))
  test(`changes are named: ${what}`, () => {
    assert.deepEqual(changesBetween(configOf(before), configOf(after)), changes)
  })

/** Returns the members of a mapping, of whatever form it may have. */
function propertiesOf({ properties = {}, anyOf = [] }: Form): Readonly<Record<string, Form>> {
  return Object.assign({}, properties, ...anyOf.map(propertiesOf))
}

function isSetting(path: string): boolean {
  let form: Form | undefined = schema.form()
  for (const step of path.split('.')) form = form && propertiesOf(form)[step]
  return form !== undefined
}

type Members = Readonly<Record<string, unknown>>

/** Changes each member of a configuration in turn, down to the third level, and returns what that is called. */
function namesIn<T extends object>(
  whole: T,
  set: (changed: T) => ReturnType<typeof configOf>,
  depth = 1,
): string[] {
  const config = set(whole)
  return Object.entries(whole).flatMap(([key, value]) => {
    const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value)
    if (isGroup && depth < 3)
      return namesIn(value as Members, next => set({ ...whole, [key]: next }), depth + 1)
    return changesBetween(config, set({ ...whole, [key]: 'other' })).changed
  })
}

test('each name of a change is that of a setting in the file', () => {
  const config = configOf('telemetry: {trace_context: on}\nzones: []\n')
  // A reload never changes the first two, and only zones have a default for access.
  const { admin, management, access, ...free } = config
  const names = namesIn(free, changed => ({ ...config, ...changed }))
  assert.ok(names.length > 60, `only ${names.length}`)
  assert.deepEqual(
    names.filter(name => !isSetting(name)),
    [],
  )
})
