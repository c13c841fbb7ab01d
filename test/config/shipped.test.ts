// The configurations that come with the project: the default one, what its commented settings say, and the examples.
import { deepEqual, equal, match } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type Parsed, parse } from '../../src/config/parse.ts'
import { type Config, providerNames } from '../../src/config/schema.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const certificate = read('test/golden/config/files/ca.pem')
const shipped = read('config/gatehouse.yaml')
const uncommented = shipped.replaceAll(/^( *(?:- )?)#(?=[^ \n#])/gm, '$1')

describe('config/gatehouse.yaml', () => {
  test('serves localhost from the origin in ORIGIN, or from port 9000', () => {
    const { zones } = proven(shipped, {})
    deepEqual(zones[0]?.hosts, ['localhost'])
    equal(zones[0]?.routes[0]?.pool?.origins[0]?.url, 'http://127.0.0.1:9000')
    const { zones: others } = proven(shipped, { ORIGIN: 'https://site.example' })
    equal(others[0]?.routes[0]?.pool?.origins[0]?.url, 'https://site.example')
  })

  test('serves AI routes on the address of loopback, with a store in the data folder', () => {
    const { ai, store } = proven(shipped, {})
    deepEqual(ai.hosts, ['127.0.0.1'])
    equal(store.url, null)
  })

  test('takes the store and the keys of providers from the environment', () => {
    const env = { STORE: 'redis://:s3cret@redis.example', OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY: 'sk-2' }
    const { ai, store } = proven(shipped, env)
    equal(store.url, env.STORE)
    deepEqual(
      ai.providers.map(({ name, keys }) => [name, ...keys]),
      [
        ['openai', 'sk-1'],
        ['anthropic', 'sk-2'],
      ],
    )
    deepEqual(
      proven(shipped, {}).ai.providers.flatMap(({ keys }) => keys),
      [],
    )
  })

  test('shows in its comments the defaults as they are', () => {
    const env = { ORIGIN: 'https://origin.example' }
    const { errors, zones, ai, ...rest } = proven(uncommented, env)
    const { errors: _, zones: shippedZones, ai: shippedAi, ...defaults } = proven(shipped, env)
    deepEqual(rest, defaults)
    deepEqual({ ...ai, providers: [], prices: [] }, { ...shippedAi, providers: [] })
    equal(errors.documentation, 'https://docs.example/errors')
    deepEqual(withoutOrigins(zones), withoutOrigins(shippedZones))
    deepEqual(zones[0]?.routes[0]?.pool?.origins[0]?.tls, {
      verify: true,
      serverName: 'origin.example',
      ca: certificate.trim(),
    })
  })

  test('shows in its comments providers and a price that work as they stand', () => {
    const { providers, prices } = proven(uncommented, { ORIGIN: 'https://origin.example' }).ai
    deepEqual(
      providers.map(({ name, url, resources }) => [name, url, ...resources]),
      [
        ['openai', null],
        ['anthropic', null],
        ['ollama', 'http://127.0.0.1:11434'],
        ['azure-openai', null, 'my-resource'],
        ['custom-lab', 'https://llm.lab.example/v1'],
      ],
    )
    deepEqual(prices, [{ model: 'custom-lab/*', input: 0.1, output: 0.4 }])
  })

  test('names the settings that only a restart changes', () => {
    const bound = read('src/process/reload.ts').matchAll(/^ {2}'?([\w.]+)'?: config =>/gm)
    const names = Array.from(bound, ([, name]) => name!)
    const [, told] = /except those of (.+):\n# they need a restart/.exec(shipped)!
    deepEqual(told!.split(/, | and /).sort(), names.sort())
  })

  test('says that gateways in a chain need different names', () => {
    match(shipped, /^# Of two gateways in a chain, each needs a name of its own, .+ error 1000\.\n#name:/m)
  })

  test('says what the limit of a header section counts, and what X-Forwarded-Proto is', () => {
    match(shipped, /^ +# The request line and all header lines together: 1038\.\n +#header_section:/m)
    match(shipped, /^# X-Forwarded-Proto is http unless one of them says more, .+\n#trusted_proxies:/m)
  })

  test('names every provider that is known', () => {
    for (const name of providerNames) match(shipped, new RegExp(`^  # .*\\b${name}\\b`, 'm'))
  })

  test('shows every setting', () => {
    const settings = read('src/config/schema.ts').matchAll(/^ +'?(\w+)'?: (?:optional|required|group)\(/gm)
    const names = [...settings].map(([, name]) => name!)
    equal(names.length > 30, true)
    for (const name of names) equal(new RegExp(`^[ -]*${name}:`, 'm').test(uncommented), true, name)
  })
})

for (const file of readdirSync(join(root, 'config/examples'))) {
  test(`config/examples/${file} has no mistakes`, () => {
    proven(read(`config/examples/${file}`), {})
  })
}

test('config/demo.yaml has no mistakes, and keeps nothing', () => {
  const { store, ai } = proven(read('config/demo.yaml'), {})
  equal(store.url, 'sqlite::memory:')
  deepEqual(ai.hosts, [])
})

function proven(text: string, env: Record<string, string>): Config {
  const parsed: Parsed = parse(text, { env, readFile: () => certificate, findFile: path => path })
  if ('config' in parsed) {
    deepEqual(parsed.warnings, [])
    return parsed.config
  }
  deepEqual(parsed.mistakes, [])
  throw new Error('neither a configuration nor mistakes')
}

function withoutOrigins(zones: Config['zones']): unknown {
  return zones.map(zone => ({
    ...zone,
    routes: zone.routes.map(route => ({ ...route, pool: route.pool?.name })),
  }))
}
