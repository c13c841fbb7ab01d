// deploy/prometheus and deploy/grafana: alerts and panels refer to metrics and labels that a gateway has, in expressions that Prometheus can read.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { parse, stringify } from 'yaml'
import { Authority } from '../help/certificates.ts'
import { blocksOf, readPage } from '../help/docs.ts'
import { startGateway } from '../help/gateway.ts'
import { deadOrigin } from '../help/origin.ts'
import { readMetrics } from '../help/prometheus.ts'
import { quickFolder } from '../help/quick-folder.ts'
import { startSite } from '../help/site.ts'
import { root } from '../help/source.ts'
import { until } from '../help/until.ts'

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly h: number; readonly w: number; readonly x: number; readonly y: number }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

/** What alerts.test.yaml expects of an alert at a time. */
interface AlertCase {
  readonly alertname: string
  readonly exp_alerts?: readonly object[]
}

const promtool = process.env.PROMTOOL ?? 'promtool'
const alertsFile = join(root, 'deploy/prometheus/alerts.yaml')
const alertsText = readFileSync(alertsFile, 'utf8')
const alerts: readonly {
  alert: string
  expr: string
  for?: string
  labels: Record<string, string>
  annotations: Record<string, string>
}[] = parse(alertsText).groups.flatMap(({ rules }: { rules: object[] }) => rules)
const dashboard = JSON.parse(readFileSync(join(root, 'deploy/grafana/gatehouse.json'), 'utf8'))
const panels: readonly Panel[] = dashboard.panels

/** Whether alerts may be about this series: promtool takes seconds for all those of a gateway. */
const isOfAlerts = (series: string) => alertsText.includes(/^\w+/.exec(series)![0])

/** Each expression by what it is for, with values in place of the dashboard's variables. */
const expressions = new Map<string, string>([
  ...alerts.map(({ alert, expr }) => [alert, expr] as const),
  ...panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr }, n) => [`${title}, ${n}`, withValues(expr)] as const),
  ),
  ...dashboard.annotations.list.map(
    (one: { name: string; expr: string }) => [one.name, withValues(one.expr)] as const,
  ),
])

function withValues(expr: string): string {
  return expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$(?:instance|zone)/g, '.*')
}

test('alerts wake somebody when they should, and else not', () => {
  run(['check', 'rules', alertsFile])
  run(['test', 'rules', join(root, 'deploy/prometheus/alerts.test.yaml')])
})

test('every alert is seen to wake somebody, and the page on production counts them', () => {
  const { tests } = parse(readFileSync(join(root, 'deploy/prometheus/alerts.test.yaml'), 'utf8'))
  const expected = tests.flatMap(({ alert_rule_test: cases }: { alert_rule_test: AlertCase[] }) => cases)
  const woken = expected.filter(({ exp_alerts: alerts = [] }: AlertCase) => alerts.length > 0)
  const names = alerts.map(({ alert }) => alert)
  assert.deepEqual(
    names.filter(name => !woken.some(({ alertname }: AlertCase) => alertname === name)),
    [],
  )
  assert.ok(readPage('docs/production.md').text.includes(`has ${names.length} alerts`))
})

for (const [nth, origins] of [
  [0, ['http://10.0.0.11:3000', 'http://10.0.0.12:3000']],
  [1, ['http://127.0.0.1:3000']],
] as const)
  test(`a dead origin wakes somebody under configuration ${nth + 1} of the README, and one that works does not`, async t => {
    const configuration = blocksOf(readPage('README.md')).filter(
      ({ language, text }) => language === 'yaml' && text.includes('pools:'),
    )[nth]!.text
    const dead = origins.map(() => deadOrigin().url)
    const working = await Promise.all(origins.map(() => startSite(t, (_, response) => response.end())))
    const tests: object[] = []
    for (const [urls, isDead] of [
      [dead, true],
      [working, false],
    ] as const) {
      const yaml = origins.reduce((text, origin, i) => text.replace(origin, urls[i]!), configuration)
      assert.notEqual(yaml, configuration)
      const gateway = await startGateway(t, yaml)
      const before = await gateway.metrics()
      const { port } = new URL(gateway.edge)
      const host = configuration.includes('localhost') ? 'localhost' : 'shop.example'
      for (let i = 0; i < 8; i++) assert.equal((await fetchAs(host, Number(port))) >= 500, isDead)
      const expected = {
        GatehousePoolDown: [{ pool: 'shop' }],
        GatehouseOriginDown: urls.map(origin => ({ pool: 'shop', origin })),
      }
      const cases = Object.entries(expected).map(([name, labels]) => ({
        eval_time: '10m',
        alertname: name,
        exp_alerts: isDead ? labels.map(one => alertOf(name, one)) : [],
      }))
      const input = seriesOf(before, await gateway.metrics())
      tests.push({ interval: '30s', input_series: input, alert_rule_test: cases })
    }
    testRules(t, tests)
  })

test('a dead origin wakes somebody under the configuration that is shipped, and one that works does not', async t => {
  const shipped = readFileSync(join(root, 'config/gatehouse.yaml'), 'utf8')
  const working = await startSite(t, (_, response) => response.end())
  const tests: object[] = []
  for (const [origin, isDead] of [
    [deadOrigin().url, true],
    [working, false],
  ] as const) {
    const yaml = `listen: ['127.0.0.1:0']\nadmin: 127.0.0.1:0\n${shipped}`
    const gateway = await startGateway(t, yaml, { env: { ORIGIN: origin } })
    const before = await gateway.metrics()
    const { port } = new URL(gateway.edge)
    for (let i = 0; i < 40; i++) assert.equal((await fetchAs('localhost', Number(port))) >= 500, isDead)
    const expected = {
      GatehousePoolDown: { pool: 'main' },
      GatehouseOriginDown: { pool: 'main', origin },
      GatehouseErrors: { zone: 'localhost' },
    }
    const cases = Object.entries(expected).map(([name, labels]) => ({
      eval_time: '15m',
      alertname: name,
      exp_alerts: isDead ? [alertOf(name, labels, '100%')] : [],
    }))
    const input = seriesOf(before, await gateway.metrics())
    tests.push({ interval: '30s', input_series: input, alert_rule_test: cases })
  }
  testRules(t, tests)
})

/** How the series of the shipped configuration move where an alert is to fire, by their beginnings: a value from then on, or how much is counted in each 30 s. */
const moves: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  GatehouseDown: { up: '0x200' },
  GatehouseAbsent: { up: '' },
  GatehouseErrors: { 'gatehouse_requests_total{zone="localhost",status_class="5xx"': '0+60x200' },
  GatehouseSlow: {
    'gatehouse_request_duration_seconds_bucket{zone="localhost",status_class="2xx",le="+Inf"': '0+60x200',
  },
  GatehousePoolDown: { gatehouse_origin_healthy: '0x200' },
  GatehouseOriginDown: { gatehouse_origin_healthy: '0x200' },
  GatehouseOriginQueue: { gatehouse_origin_queue_length: '101x200' },
  GatehouseRetryBudgetExhausted: { gatehouse_retry_budget_exhausted_total: '0+1x200' },
  GatehouseStoreDown: { gatehouse_store_up: '0x200' },
  GatehouseStoreReadOnly: { gatehouse_store_writable: '0x200' },
  GatehouseStoreDegraded: { 'gatehouse_store_degraded{reason="store_older"': '1x200' },
  GatehouseStoreRefusedWrites: { gatehouse_store_refused_writes_total: '0+1x200' },
  GatehouseStoreNotices: { gatehouse_store_notices_up: '0x200' },
  GatehouseWorkerRestarts: { gatehouse_worker_restarts_total: '0+1x200' },
  GatehouseReloadFailed: { 'gatehouse_config_reloads_total{result="failure"': '0+1x200' },
  GatehouseCertificateOrders: { 'gatehouse_tls_automatic_certificates{state="failing"': '1x200' },
  GatehouseConnectionsRefused: { 'gatehouse_connections_refused_total{reason="connections"': '0+1x200' },
  GatehouseFileDescriptors: { process_open_fds: '1000000000x200' },
  GatehouseEventLoop: { nodejs_eventloop_lag_p99_seconds: '0.3x200' },
  GatehouseAiLogDropped: { 'gatehouse_ai_log_entries_total{result="dropped"': '0+1x200' },
  GatehouseAiLogExportDropped: { 'gatehouse_ai_log_export_entries_total{result="dropped"': '0+1x200' },
  GatehouseProviderKeyRejected: { 'gatehouse_ai_keys_set_aside_total{status="401"': '0+1x200' },
  GatehouseRateLimitsDiffer: { gatehouse_rate_limits_differing: '1x200' },
  GatehouseRateLimitFallbacks: { gatehouse_rate_limit_fallbacks_total: '0+1x200' },
  GatehouseBudgetsUncounted: { gatehouse_budget_uncounted_accounts: '1x200' },
  GatehouseLogLinesDropped: { gatehouse_log_lines_dropped_total: '0+1x200' },
}

/** Alerts on what the shipped configuration has none of, and the metric: certificates, and authorities of clients. */
const without: Readonly<Record<string, string>> = {
  GatehouseAiLogExportLate: 'gatehouse_ai_log_export_oldest_seconds',
  GatehouseCertificateExpires: 'gatehouse_tls_certificate_expiry_timestamp_seconds',
  GatehouseCertificateExpiresSoon: 'gatehouse_tls_certificate_expiry_timestamp_seconds',
  GatehouseClientAuthorityExpires: 'gatehouse_tls_client_trust_expiry_timestamp_seconds',
  GatehouseRevocationListExpires: 'gatehouse_tls_client_trust_expiry_timestamp_seconds',
}

test('each alert fires on series of the shipped configuration once they move, after its time and not before', async t => {
  const names = alerts.map(({ alert }) => alert)
  assert.deepEqual(new Set(names), new Set([...Object.keys(moves), ...Object.keys(without)]))
  const shipped = readFileSync(join(root, 'config/gatehouse.yaml'), 'utf8')
  const origin = await startSite(t, (_, response) => response.end())
  const yaml = `listen: ['127.0.0.1:0']\nadmin: 127.0.0.1:0\n${shipped}`
  const gateway = await startGateway(t, yaml, { env: { ORIGIN: origin } })
  for (let i = 0; i < 3; i++) await fetchAs('localhost', Number(new URL(gateway.edge).port))
  const scraped = await gateway.metrics()
  for (const name of Object.values(without)) assert.doesNotMatch(scraped, new RegExp(`^${name}`, 'm'))
  const still = [...readMetrics(scraped).samples]
    .filter(([name]) => isOfAlerts(name))
    .map(([name, value]) => {
      const place = /^(?:process|nodejs)_/.test(name) ? 'instance="a",job="gatehouse"' : 'instance="a"'
      const series = name.endsWith('}') ? name.replace(/\}$/, `,${place}}`) : `${name}{${place}}`
      // What else this machine does may hold up the event loop.
      return { series, values: `${name.startsWith('nodejs_eventloop_lag') ? 0.01 : value}x200` }
    })
  const all = [...still, { series: 'up{job="gatehouse",instance="a"}', values: '1x200' }]
  const firing = (name: string) => `max(ALERTS{alertname="${name}",alertstate="firing"})`
  const silent = { expr: 'max(ALERTS{alertstate="firing"})', eval_time: '75m', exp_samples: [] }
  const tests: object[] = [{ interval: '30s', input_series: all, promql_expr_test: [silent] }]
  for (const { alert, expr, for: waits = '0s' } of alerts) {
    if (alert in without) continue
    const input = all.map(one => {
      const moved = Object.entries(moves[alert]!).find(([start]) => one.series.startsWith(start))
      return moved === undefined ? one : { ...one, values: moved[1] }
    })
    assert.notDeepEqual(input, all, `${alert} is about series that the shipped configuration lacks`)
    const seconds = Number(/\d+/.exec(waits)) * { s: 1, m: 60, h: 3_600 }[waits.at(-1)! as 's' | 'm' | 'h']
    const early = { expr: firing(alert), eval_time: `${seconds - 30}s`, exp_samples: [] }
    const fires = {
      expr: firing(alert),
      eval_time: `${seconds + 600}s`,
      exp_samples: [{ labels: '{}', value: 1 }],
    }
    tests.push({
      interval: '30s',
      // Only what it reads: to evaluate it on all takes seconds.
      input_series: input.filter(
        ({ series, values }) => values !== '' && expr.includes(/^\w+/.exec(series)![0]),
      ),
      promql_expr_test: seconds > 0 ? [early, fires] : [fires],
    })
  }
  testRules(t, tests)
})

function testRules(t: TestContext, tests: readonly object[]): void {
  const file = join(quickFolder(t, 'rules'), 'alerts.test.yaml')
  writeFileSync(file, stringify({ rule_files: [alertsFile], evaluation_interval: '1m', tests }))
  run(['test', 'rules', file])
}

/** Makes series of two scrapes: what was counted between them goes on at this pace, and gauges stay as they are at the second. */
function seriesOf(before: string, after: string): readonly { series: string; values: string }[] {
  const first = readMetrics(before).samples
  return [...readMetrics(after).samples]
    .filter(([name]) => name.startsWith('gatehouse_') && isOfAlerts(name))
    .map(([name, value]) => {
      const series = name.endsWith('}') ? name.replace(/\}$/, ',instance="a"}') : `${name}{instance="a"}`
      const pace = /_(?:total|count|sum|bucket)\b/.test(name) ? value - (first.get(name) ?? 0) : 0
      return { series, values: `${value}+${pace}x40` }
    })
}

/** Returns how promtool writes this alert with these labels and this value. */
function alertOf(name: string, labels: Readonly<Record<string, string>>, value = '') {
  const { annotations, labels: own } = alerts.find(({ alert }) => alert === name)!
  const filled = Object.entries(annotations).map(([key, text]) => [
    key,
    text
      .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => labels[label]!)
      .replaceAll(/\{\{ \$value\b[^}]*\}\}/g, value),
  ])
  return { exp_labels: { ...own, ...labels }, exp_annotations: Object.fromEntries(filled) }
}

/** Asks for / with this Host, and returns the status. */
async function fetchAs(host: string, port: number): Promise<number> {
  const asked = get({ port, host: '127.0.0.1', headers: { host } })
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response.statusCode!
}

test('the configuration of Prometheus has the alerts, and the job that they expect', t => {
  const text = readFileSync(join(root, 'deploy/compose/prometheus.yaml'), 'utf8')
  const file = join(quickFolder(t, 'prometheus'), 'prometheus.yaml')
  writeFileSync(file, text.replace('/etc/prometheus/alerts.yaml', alertsFile))
  run(['check', 'config', file])
  const jobs = Array.from(alertsText.matchAll(/job="([^"]*)"/g), ([, job]) => job)
  assert.deepEqual(
    new Set(jobs),
    new Set(parse(text).scrape_configs.map((one: { job_name: string }) => one.job_name)),
  )
})

test('Prometheus can read every expression of the dashboard', t => {
  const rules = [...expressions.values()].map((expr, n) => ({ record: `panel:${n}`, expr }))
  const file = join(quickFolder(t, 'panels'), 'rules.yaml')
  writeFileSync(file, stringify({ groups: [{ name: 'panels', rules }] }))
  run(['check', 'rules', '--lint=none', file])
})

test('every metric, label and value that alerts and panels ask for is one that a gateway has', async t => {
  const authority = new Authority()
  const { certificate, key } = authority.issue(['shop.example'])
  const folder = quickFolder(t, 'monitoring')
  writeFileSync(join(folder, 'shop.pem'), certificate)
  writeFileSync(join(folder, 'shop.key'), key)
  writeFileSync(join(folder, 'ca.pem'), authority.certificate)
  writeFileSync(join(folder, 'ca.crl'), authority.revocationList())
  const site = await startSite(t, (_, response) => response.end())
  const gateway = await startGateway(t, configurationWith(folder, site))
  for (const path of ['/', '/cdn-cgi/error/522', '/dead', '/more']) await fetch(gateway.edge + path)
  // Read by a thread that starts later.
  await until(async () => (await gateway.metrics()).includes('\ngatehouse_ai_log_export_oldest_seconds '))
  const samples = samplesIn(await gateway.metrics())
  for (const [where, expr] of expressions) {
    const text = expr.replaceAll(/"(?:[^"\\]|\\.)*"/g, '')
    for (const [name] of text.matchAll(/\b(?:gatehouse|process|nodejs)_\w+/g))
      assert.ok(samples.has(name), `${where}: ${name}`)
    for (const [, name, matchers] of expr.matchAll(/(\w+)\{([^}]*)\}/g))
      for (const [, label, operator, value] of matchers!.matchAll(/(\w+)(=~|!=|=)"([^"]*)"/g)) {
        if (label === 'job' || label === 'instance') continue
        const values = [...(samples.get(name!)?.get(label!) ?? [])]
        assert.notEqual(values.length, 0, `${where}: ${name} has no label ${label}`)
        for (const one of operator === '=~' ? value!.split('|') : [value])
          assert.ok(one === '.*' || values.includes(one!), `${where}: ${name} has no ${label} ${one}`)
      }
    const labels = new Set([...samples.values()].flatMap(labels => [...labels.keys()]))
    for (const [, list] of text.matchAll(/\bby \(([^)]*)\)/g))
      for (const label of list!.split(', '))
        assert.ok(label === 'instance' || labels.has(label), `${where}: ${label}`)
  }
})

test('panels lie beside each other, and legends name labels that are there', () => {
  const cells = new Set<string>()
  for (const { title, gridPos, targets = [] } of panels) {
    assert.ok(gridPos.x + gridPos.w <= 24, title)
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        assert.ok(!cells.has(`${x} ${y}`), title)
        cells.add(`${x} ${y}`)
      }
    for (const { expr, legendFormat } of targets)
      for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
        assert.match(expr, new RegExp(`by \\([^)]*\\b${label}\\b`), title)
  }
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
})

/** What gives every metric of the alerts and panels a sample once a few requests were made. */
function configurationWith(folder: string, site: string): string {
  return `
listen: [127.0.0.1:0, { address: '127.0.0.1:0', tls: true }]
admin: 127.0.0.1:0
tls: { certificates: [{ certificate: 'file:${folder}/shop.pem', key: 'file:${folder}/shop.key' }] }
rate_limits: [{ name: two, rate: 2/min }]
access: { ban: { refusals: 20, within: 1m, lasts: 10m } }
ai: { hosts: [127.0.0.2], log_export: { file: '${folder}/calls.ndjson' } }
pools: { shop: { origins: ['${site}'] }, dead: { origins: ['${deadOrigin().url}'] } }
zones:
  - hosts: [shop.example]
    default: on
    tls: { client_certificates: { ca: 'file:${folder}/ca.pem', crl: ['file:${folder}/ca.crl'], mode: optional } }
    routes: [{ path: /, pool: shop }, { path: /dead, pool: dead }]
`
}

/** Returns the values of each label of each metric. */
function samplesIn(text: string): ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>> {
  const samples = new Map<string, Map<string, Set<string>>>()
  for (const [, name, labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = samples.getOrInsertComputed(name!, () => new Map())
    for (const [, label, value] of labels.matchAll(/(\w+)="([^"]*)"/g))
      known.getOrInsertComputed(label!, () => new Set()).add(value!)
  }
  return samples
}

function run(args: readonly string[]): string {
  const { stdout, stderr, status, error } = spawnSync(promtool, args, { encoding: 'utf8' })
  if (error) throw error
  assert.equal(status, 0, stdout + stderr)
  return stdout
}
