// Measures what access rules cost a request that none of them matches, in ns of CPU: node bench/micro/access/decide.ts
import { Work } from '../../../src/expression/work-budget.ts'
import { Bans } from '../../../src/access/bans/bans.ts'
import { AccessPolicy } from '../../../src/access/policy.ts'
import type { AccessRequest } from '../../../src/access/rules/access-request.ts'
import { TallyBook } from '../../../src/activity/tally-book.ts'
import { systemClock } from '../../../src/base/clock.ts'
import { EdgeMetrics } from '../../../src/metrics/counters/edge-metrics.ts'
import type { AccessCondition } from '../../../src/config/model/access-config.ts'
import { noTls } from '../../../src/expression/tls-facts.ts'

const rounds = 7
const decisions = 200_000
const fields = [
  ['Host', 'site.test'],
  ['Connection', 'keep-alive'],
  ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
  ['Accept-Language', 'en-GB,en;q=0.5'],
  ['Accept-Encoding', 'gzip, deflate, br'],
  [
    'User-Agent',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  ],
  ['Referer', 'https://www.site.test/a/page'],
  ['Cookie', 'session=0123456789abcdef'],
].flat()
const tallies = new TallyBook(systemClock, () => {}).scope('bench')
const same = [requestFrom('203.0.113.7')]
const sameV6 = [requestFrom('2001:db8:1234:5678:9abc:def0:1:2')]
const other = Array.from({ length: 100_000 }, (_, i) =>
  requestFrom(`100.${i >> 16}.${(i >> 8) & 255}.${i & 255}`),
)

const kinds: Readonly<Record<string, (i: number) => AccessCondition>> = {
  mixed: i => [ip(i), country(i), userAgent(i), path(i)][i % 4]!,
  ip,
  country,
  user_agent: userAgent,
  path,
  expression: i => ({ kind: 'expression', text: `request.method == "PUT" && request.path == "/x${i}"` }),
}

for (const [name, conditionAt] of Object.entries(kinds)) {
  for (const count of [1, 10, 100]) {
    const policy = policyOf(Array.from({ length: count }, (_, i) => conditionAt(i)))
    const [again, againV6, ever] = [same, sameV6, other].map(requests => measure(policy, requests))
    console.log(
      `${`${count} ${name}`.padEnd(16)} ${cell(again!)} ns the same address, ${cell(againV6!)} of IPv6, ${cell(ever!)} ever new ones`,
    )
  }
}

function ip(i: number): AccessCondition {
  return { kind: 'ip', networks: [`10.${i}.0.0/16`, `192.0.2.${i}`, `2001:db8:${i}::/48`] }
}

function country(i: number): AccessCondition {
  return { kind: 'country', countries: [`A${String.fromCharCode(65 + (i % 26))}`, 'KP', 'IR'] }
}

function userAgent(i: number): AccessCondition {
  return { kind: 'user_agent', patterns: [`*bot${i}*`] }
}

function path(i: number): AccessCondition {
  return { kind: 'path', prefixes: [`/admin${i}`, `/wp-login${i}.php`] }
}

function policyOf(conditions: readonly AccessCondition[]): AccessPolicy {
  const rules = conditions.map(condition => ({ action: 'deny' as const, condition, description: null }))
  // As fast as a database that remembers.
  const countries = new Map(other.map(({ address }) => [address, 'DE']))
  const geo = { countryOf: (address: string) => countries.get(address) ?? '', networkOf: () => 0 }
  const lists = {
    get: () => {
      throw new Error('there are no lists')
    },
  }
  const parts = { geo, lists, bans: new Bans(systemClock), metrics: new EdgeMetrics() }
  return new AccessPolicy({ rules, otherwise: 'allow', ban: null }, 'bench', parts)
}

function requestFrom(address: string): AccessRequest {
  const request = {
    method: 'GET',
    host: 'site.test',
    path: '/a/page',
    query: '',
    headers: new Map(),
    ip: address,
  }
  const facts = {
    request: { ...request, country: 'DE', asn: 1, scheme: 'https' as const, tls: noTls },
    response: null,
    error: null,
    zone: 'bench',
  }
  return { tallies, address, paths: ['/a/page?x=1'], fields, facts, work: new Work() }
}

/** Gives the median over some rounds. */
function measure(policy: AccessPolicy, requests: readonly AccessRequest[]): number {
  return Array.from({ length: rounds }, () => timeOne(policy, requests)).sort((a, b) => a - b)[rounds >> 1]!
}

function timeOne(policy: AccessPolicy, requests: readonly AccessRequest[]): number {
  const began = process.cpuUsage()
  for (let i = 0; i < decisions; i++)
    if (policy.decide(anew(requests[i % requests.length]!)) !== null) throw new Error('it should pass')
  const { user, system } = process.cpuUsage(began)
  return ((user + system) * 1e3) / decisions
}

/** Gives a request the work of one that has just come. */
function anew(request: AccessRequest): AccessRequest {
  request.work.left = 1e9
  return request
}

function cell(ns: number): string {
  return ns.toFixed(0).padStart(5)
}
