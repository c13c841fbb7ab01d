// Measures the two lookups of every request in ns: node bench/micro/zones/lookup.ts
import { pathReadings } from '../../../src/base/path/path-readings.ts'
import { HostLookup, PathLookup } from '../../../src/zones/lookup.ts'

const rounds = 5
const lookups = 2_000_000

const hosts = new HostLookup(
  names(200).flatMap(name => [name, `*.${name}`].map(host => [host, name] as const)),
)
const paths = new PathLookup(
  ['/', ...names(20).map(name => `/${name}`)].map(prefix => [prefix, prefix] as const),
)

measure('host, exact', hosts, ['site7.example', 'site150.example'])
measure('host, wildcard', hosts, ['eu.site7.example', 'a.b.c.site150.example'])
measure('host, unknown', hosts, ['www.elsewhere.test', 'elsewhere.test'])
const byTarget = { find: (target: string) => paths.find(pathReadings(target)) }
measure('path, plain', byTarget, ['/site7.example/items/4711?page=2', '/elsewhere/items/4711'])
measure('path, to be decoded', byTarget, ['/site7.example/%41', '/elsewhere/%41/items'])
measure('path, ambiguous', byTarget, ['/a/../site7.example/items', '/elsewhere//x;y/items'])

function names(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `site${i}.example`)
}

function measure(name: string, lookup: { find(key: string): string | null }, keys: readonly string[]): void {
  const times = Array.from({ length: rounds }, () => timeOne(lookup, keys))
  const median = times.sort((a, b) => a - b)[rounds >> 1]!
  console.log(`${name.padEnd(24)} ${median.toFixed(0).padStart(5)} ns`)
}

function timeOne(lookup: { find(key: string): string | null }, keys: readonly string[]): number {
  let found = 0
  const began = performance.now()
  for (let i = 0; i < lookups; i++) if (lookup.find(keys[i % keys.length]!) !== null) found++
  const elapsed = performance.now() - began
  if (found < 0) throw new Error('unreachable: keeps the loop alive')
  return (elapsed * 1e6) / lookups
}
