// The configurations that come with the project: the default one, what its commented settings say, and the examples.
import { deepEqual, equal, match } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type Parsed, parse } from '../../src/config/parse.ts'
import type { Config } from '../../src/config/schema.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const certificate = read('test/golden/config/files/ca.pem')
const shipped = read('config/gatehouse.yaml')
const uncommented = shipped.replaceAll(/^( *(?:- )?)#(?=[^ \n#])/gm, '$1')

describe('config/gatehouse.yaml', () => {
  test('serves localhost from the origin in ORIGIN, or from port 9000', () => {
    const { zones } = proven(shipped, {})
    deepEqual(zones[0]?.hosts, ['localhost', '127.0.0.1'])
    equal(zones[0]?.routes[0]?.pool?.origins[0]?.url, 'http://127.0.0.1:9000')
    const { zones: others } = proven(shipped, { ORIGIN: 'https://site.example' })
    equal(others[0]?.routes[0]?.pool?.origins[0]?.url, 'https://site.example')
  })

  test('shows in its comments the defaults as they are', () => {
    const env = { ORIGIN: 'https://origin.example' }
    const { errors, zones, ...rest } = proven(uncommented, env)
    const { errors: _, zones: shippedZones, ...defaults } = proven(shipped, env)
    deepEqual(rest, defaults)
    equal(errors.documentation, 'https://docs.example/errors')
    deepEqual(withoutOrigins(zones), withoutOrigins(shippedZones))
    deepEqual(zones[0]?.routes[0]?.pool?.origins[0]?.tls, {
      verify: true,
      serverName: 'origin.example',
      ca: certificate.trim(),
    })
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

function proven(text: string, env: Record<string, string>): Config {
  const parsed: Parsed = parse(text, { env, readFile: () => certificate })
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
