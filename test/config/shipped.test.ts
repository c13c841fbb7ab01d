// The configurations that come with the project: the default one, what its commented settings say, and the examples.
import { deepEqual, doesNotMatch, equal, fail, match } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type Config, providerNames } from '../../src/config/model/config.ts'
import { errorPageTypes } from '../../src/config/model/custom-errors-config.ts'
import { loadConfig } from '../../src/config/load/load.ts'
import type { Mistake } from '../../src/config/file/mistake.ts'
import { type Parsed, parse } from '../../src/config/load/parse.ts'
import type { Form } from '../../src/config/shape/value-schema.ts'
import { schema } from '../../src/config/settings/schema.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const certificate = read('test/golden/config/files/ca.pem')
const shipped = read('config/gatehouse.yaml')
const whole = uncomment(shipped)
/** Automatic certificates need a listener with TLS, which is not the default. */
const blank = (lines: string) => lines.replaceAll(/.+/g, '')
const uncommented = whole
  .replace(/^ {2}auto:\n(?: {4}.*\n)+/m, blank)
  .replace(/^ {6}auto: true\n/m, blank)
  // In place of a file.
  .replace(/^ {4}https:\n(?: {6}.*\n)+/m, blank)
  // The messages of an MCP server are smaller than other bodies.
  .replace(/^ {8}mcp:\n(?: {10}.*\n)+/m, blank)
  // In place of the permission of an API token.
  .replace(/^ {10}(?:scopes|server): .*\n/gm, blank)

describe('config/gatehouse.yaml', () => {
  test('serves localhost from the origin in ORIGIN, or from port 9000', () => {
    const { zones } = proven(shipped, {})
    deepEqual(zones[0]?.hosts, ['localhost'])
    equal(zones[0]?.routes[0]?.pool?.origins[0]?.url, 'http://127.0.0.1:9000')
    const { zones: others } = proven(shipped, { ORIGIN: 'https://site.example' })
    equal(others[0]?.routes[0]?.pool?.origins[0]?.url, 'https://site.example')
  })

  test('warns of the keys that the environment lacks, and of nothing else', () => {
    const warned = (env: Readonly<Record<string, string>>) => {
      const parsed = parse(shipped, { env, readFile, findFile: path => path })
      return 'warnings' in parsed ? parsed.warnings.map(({ path, message }) => `${path}: ${message}`) : null
    }
    const lacks = 'it has no key, so calls that bring none of their own are refused: set'
    const anthropic = `ai.providers.anthropic: ${lacks} ai.providers.anthropic.keys (ANTHROPIC_API_KEY)`
    deepEqual(warned({}), [
      `ai.providers.openai: ${lacks} ai.providers.openai.keys (OPENAI_API_KEY)`,
      anthropic,
    ])
    deepEqual(warned({ OPENAI_API_KEY: 'sk-1' }), [anthropic])
    deepEqual(warned({ OPENAI_API_KEY: 'sk-1', ANTHROPIC_API_KEY: 'sk-2' }), [])
  })

  test('serves AI routes on the address of loopback and by its name, with a store in the data folder', () => {
    const { ai, store } = proven(shipped, {})
    deepEqual(ai.hosts, ['127.0.0.1', 'localhost'])
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

  test('takes the proxy of all providers from the environment, where the file names none', () => {
    const of = (env: Readonly<Record<string, string>>) => {
      const { proxy, noProxy } = proven(shipped, env).ai
      return [proxy?.host, ...noProxy.map(({ host }) => host)]
    }
    deepEqual(of({ HTTPS_PROXY: 'http://upper:3128', NO_PROXY: 'a.example' }), ['upper', 'a.example'])
    deepEqual(of({ HTTPS_PROXY: 'http://upper', https_proxy: 'http://lower' }), ['lower'])
    deepEqual(of({ HTTP_PROXY: 'http://plain', ALL_PROXY: 'http://all', https_proxy: '' }), [undefined])
    const own = `ai: { hosts: [a.example], proxy: off }\nzones: []\n`
    equal(proven(own, { HTTPS_PROXY: 'http://upper' }).ai.proxy, null)
  })

  test('shows in its comments the defaults as they are', () => {
    const env = { ORIGIN: 'https://origin.example' }
    const { documentation, publicPort, ...shown } = withoutExamples(proven(uncommented, env))
    const { documentation: none, publicPort: ownPort, ...defaults } = withoutExamples(proven(shipped, env))
    deepEqual(shown, defaults)
    deepEqual([documentation, none], ['https://docs.example/errors', null])
    deepEqual([publicPort, ownPort], [443, null])
    deepEqual(proven(uncommented, env).zones[0]?.routes[0]?.pool?.origins[0]?.tls, {
      verify: true,
      serverName: 'origin.example',
      ca: certificate.trim(),
      identity: { certificate: readFile('gateway.pem').trim(), key: readFile('gateway.key').trim() },
    })
  })

  test('shows in its comments automatic certificates as they are by default, for a listener with TLS', () => {
    const shown = /^ {2}auto:\n((?: {4}.*\n)+)/m.exec(whole)![1]!
    const start = `listen: [0.0.0.0:80, { address: 0.0.0.0:443, tls: true }]\npools: { a: { origins: ['http://127.0.0.1:9000'] } }\nzones: [{ hosts: [a.example.com], routes: [{ path: /, pool: a }] }]\ntls:\n  auto:\n`
    const { acme } = proven(start + shown, {})
    const { acme: defaults } = proven(`${start}    terms_agreed: true`, {})
    deepEqual({ ...acme, email: null, binding: null, ca: null }, defaults)
    deepEqual(acme?.binding?.id, 'kid-1')
  })

  test('shows in its comments what a collector gets by default', () => {
    const { telemetry } = proven(uncommented, { ORIGIN: 'https://origin.example' })
    const { telemetry: defaults } = proven(
      "telemetry: { otlp: { url: 'http://127.0.0.1:4318' } }\nzones: [{ hosts: [a.example], routes: [{ path: /, pool: a }] }]\npools: { a: { origins: ['http://127.0.0.1:9000'] } }",
      {},
    )
    deepEqual({ ...telemetry, otlp: { ...telemetry.otlp, ca: null, headers: [], attributes: [] } }, defaults)
    deepEqual(proven(shipped, {}).telemetry, { trace: null, otlp: null })
  })

  test('shows in its comments compression as it is where it is on', () => {
    const { zones } = proven(uncommented, { ORIGIN: 'https://origin.example' })
    const { zones: on } = proven(
      'zones: [{ hosts: [a.example], compression: on, routes: [{ path: /, pool: a }] }]\npools: { a: { origins: [http://127.0.0.1:9000] } }',
      {},
    )
    deepEqual(zones[0]?.routes[0]?.compression, on[0]?.routes[0]?.compression)
    equal(proven(shipped, {}).zones[0]?.routes[0]?.compression, null)
  })

  test('shows in its comments an MCP server as it is where it is on', () => {
    const shown = /^ {8}mcp:\n((?: {10}.*\n)+)/m.exec(whole)![1]!
    const gate = 'jwt: { issuer: a, audience: b, keys: https://id.example/jwks.json }'
    const mcpOf = (mcp: string) => {
      const route = `zones:\n- hosts: [a.example]\n  routes:\n  - path: /\n    pool: a\n    protect: { ${gate} }\n    mcp: ${mcp}`
      return proven(`pools: { a: { origins: ['http://127.0.0.1:9000'] } }\n${route}`, {}).zones[0]?.routes[0]
        ?.mcp
    }
    const mcp = mcpOf(`\n${shown}`)
    deepEqual({ ...mcp, origins: [], rules: [] }, mcpOf('on'))
    deepEqual([mcp?.origins.length, mcp?.rules.length], [1, 3])
    equal(mcpOf('off'), null)
  })

  test('shows in its comments rules, limits and checks that work as they stand', () => {
    const { access, rateLimits, errors, lists, geo, zones } = proven(uncommented, {
      ORIGIN: 'https://origin.example',
    })
    deepEqual(
      access.rules.map(({ action, condition: { kind } }) => `${action} ${kind}`),
      [
        'deny ip',
        'deny list',
        'allow country',
        'deny asn',
        'deny user_agent',
        'deny referer',
        'deny referer_not',
        'legal path',
        'deny expression',
      ],
    )
    deepEqual(access.ban, { refusals: 20, within: 60_000, lasts: 600_000 })
    deepEqual([lists.length, geo.databases.length, errors.rules.length], [1, 2, 1])
    deepEqual(Object.keys(errors.pages), errorPageTypes)
    const [{ routes, ...zone } = fail('no zone')] = zones
    const names = [rateLimits, zone.rateLimits, routes[0]!.rateLimits].flat().map(({ name }) => name)
    deepEqual(names, ['per-token', 'of-the-site', 'of-the-path'])
    equal(zone.access.rules.length + zone.errors.rules.length, 2)
    equal(routes[0]!.rewrite?.requestHeaders.length, 2)
    const bare = proven(
      `pools: { a: { check: /health } }
zones: [{ default: on, routes: [{ path: /, pool: a }] }]`,
      {},
    )
    const { check } = bare.zones[0]!.routes[0]!.pool!
    deepEqual(routes[0]!.pool!.check, { ...check, host: 'health.example' })
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
        ['google-vertex-ai', null, 'global', 'us-east5'],
        ['aws-bedrock', null, 'us-east-1'],
        ['custom-lab', 'https://llm.lab.example/v1'],
      ],
    )
    deepEqual(prices, [
      {
        model: 'custom-lab/*',
        input: 0.1,
        output: 0.4,
        cacheRead: 0.01,
        cacheWrite: 0.125,
        cacheWriteLong: 0.2,
      },
    ])
  })

  test('says that gateways in a chain need different names', () => {
    match(shipped, /^# Of two gateways in a chain, each needs its own name\. .+ error 1000\.\n#name:/m)
  })

  test('says what the limit of a header section counts, and what X-Forwarded-Proto is', () => {
    match(shipped, /^ +# The request line and all header lines together: 1038\.\n +#header_section:/m)
    match(
      shipped,
      /^# X-Forwarded-Proto is that of the listener, unless one of them reports another\.\n#trusted_proxies:/m,
    )
  })

  test('names every provider that is known', () => {
    for (const name of providerNames) match(shipped, new RegExp(`^  # .*\\b${name}\\b`, 'm'))
  })

  test('shows every setting', () => {
    // Only the short form of an expression is shown, its text; and only in words what excludes another setting.
    const names = settingsIn(schema.form()).difference(
      new Set(['expression', 'token_file', 'session_token', 'role', 'sts']),
    )
    equal(names.size > 200, true)
    for (const name of names)
      equal(new RegExp(`^[ -]*(?:\\w+: \\{ (?:.*, )?)?${name}:`, 'm').test(whole), true, name)
  })
})

for (const file of readdirSync(join(root, 'config/examples'))) {
  test(`config/examples/${file} has no mistakes`, () => {
    const loaded = loadConfig(join(root, 'config/examples', file), {})
    deepEqual('mistakes' in loaded ? loaded.mistakes : loaded.warnings.filter(isNotOfKeys), [])
    const all = proven(uncomment(read(`config/examples/${file}`)), {})
    deepEqual(all.listen, 'config' in loaded && loaded.config.listen)
  })
}

for (const file of readdirSync(join(root, 'config/error-pages'))) {
  test(`config/error-pages/${file} shows the error, and asks for nothing from outside`, () => {
    const page = read(`config/error-pages/${file}`)
    for (const token of ['::SVC_ERROR_500S_BOX::', '::RAY_ID::']) equal(page.split(token).length, 2)
    doesNotMatch(page, /https?:|url\(|@import|\bsrc=/)
  })
}

test('config/demo.yaml has no mistakes, and keeps nothing', () => {
  const { store, ai } = proven(read('config/demo.yaml'), {})
  equal(store.url, 'sqlite::memory:')
  deepEqual(ai.hosts, [])
})

function uncomment(text: string): string {
  return text.replaceAll(/^( *(?:- )?)#(?=[^ \n#])/gm, '$1')
}

/** Reads a file that a configuration refers to: a pair for a pool, or a certificate for any other. */
function readFile(path: string): string {
  if (path === 'openid-client-secret' || path === 'azure-client-secret' || path === 'aws-secret-access-key')
    return 's3cret'
  const pair = {
    'gateway.pem': 'client.pem',
    'gateway.key': 'client.key',
    'certificates/shop.pem': 'server.pem',
    'certificates/shop.key': 'server.key',
    'model-prices.json': 'model-prices.json',
  }[path]
  return pair === undefined ? certificate : read(`test/golden/config/files/${pair}`)
}

/** Whether a warning is about something else than keys that the environment lacks. */
function isNotOfKeys({ message }: Mistake): boolean {
  return !message.includes('has no key')
}

function proven(text: string, env: Record<string, string>): Config {
  const parsed: Parsed = parse(text, { env, readFile, findFile: path => path })
  if ('config' in parsed) {
    // The default listener has no TLS, which an example of client certificates needs.
    deepEqual(
      parsed.warnings.filter(isNotOfKeys).filter(({ path }) => path !== 'zones[0].tls.client_certificates'),
      [],
    )
    return parsed.config
  }
  deepEqual(parsed.mistakes, [])
  throw new Error('neither a configuration nor mistakes')
}

/** Returns the names of all settings of a form, at any depth. */
function settingsIn({ properties = {}, additionalProperties, items, anyOf = [] }: Form): ReadonlySet<string> {
  const within = [...Object.values(properties), additionalProperties, items, ...anyOf]
  const names = within.flatMap(form => (form ? [...settingsIn(form)] : []))
  return new Set([...Object.keys(properties), ...names])
}

/** Takes away what has no default that could be shown, and puts in place of origins how many they are. */
const aiExamples = {
  defaultAccount: null,
  customNetworks: [],
  webhookNetworks: [],
  corsOrigins: [],
  proxy: null,
  noProxy: [],
  providers: [],
  models: [],
  prices: [],
  priceList: null,
  logExport: null,
}

function withoutExamples({
  errors,
  tls,
  acme: __,
  management,
  oauth,
  dashboard: _,
  people,
  access,
  rateLimits,
  lists,
  geo,
  scopes: ____,
  zones,
  ai,
  telemetry: ___,
  ...rest
}: Config) {
  return {
    ...rest,
    documentation: errors.documentation,
    tls: tls.minVersion,
    management: { ...management, metrics: null },
    oauth: oauth.lifetimes,
    people: people.signUp,
    access: access.otherwise,
    ai: { ...ai, ...aiExamples },
    // The issuer and the dashboard of the example have zones of their own.
    zones: zones
      .filter(({ routes }) => !routes.some(({ own }) => own === 'issuer' || own === 'dashboard'))
      .map(({ account, access, rateLimits, errors, identity, routes, tls, ...zone }) => ({
        ...zone,
        tls: { ...tls, client: null },
        access: access.otherwise,
        ban: access.ban,
        routes: routes
          .filter(({ own }) => own === undefined)
          .map(({ rateLimits, rewrite, compression, protect, pool, ...route }) => ({
            ...route,
            pool: { ...pool, check: null, origins: pool?.origins.map(({ transport }) => transport) },
          })),
      })),
  }
}
