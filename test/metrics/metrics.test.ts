import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { allowReasons, refuseReasons } from '../../src/metrics/counters/ai-metrics.ts'
import { Metrics, remains, sumOf } from '../../src/metrics/metrics.ts'
import { readMetrics } from '../help/prometheus.ts'

test('the exposition is valid Prometheus text: HELP and TYPE for all, cumulative buckets, values in seconds', async () => {
  const metrics = new Metrics('1.2.3')
  const zone = metrics.edge.zone('shop.example')
  for (const ms of [0.2, 0.25, 0.3, 7, 70_000]) zone.request(200, ms)
  metrics.edge.phases.connect.observe(3)
  const { samples, types } = readMetrics(await metrics.expose())

  const bucket = (le: string) =>
    samples.get(
      `gatehouse_request_duration_seconds_bucket{zone="shop.example",status_class="2xx",le="${le}"}`,
    )
  assert.deepEqual(['0.00025', '0.0005', '0.005', '0.01', '60', '+Inf'].map(bucket), [2, 3, 3, 4, 4, 5])
  const series = '{zone="shop.example",status_class="2xx"}'
  assert.equal(samples.get(`gatehouse_requests_total${series}`), 5)
  assert.equal(samples.get(`gatehouse_request_duration_seconds_count${series}`), 5)
  assert.equal(samples.get(`gatehouse_request_duration_seconds_sum${series}`), 70.00775)
  assert.equal(samples.get('gatehouse_origin_phase_duration_seconds_bucket{phase="connect",le="0.005"}'), 1)
  assert.equal(samples.get(`gatehouse_build_info{version="1.2.3",node="${process.versions.node}"}`), 1)
  assert.equal(types.get('gatehouse_origin_phase_duration_seconds'), 'histogram')
  assert.ok(samples.has('process_cpu_seconds_total'))
})

test('sums of several processes are the same in any order: another one would go back by a bit', async () => {
  const snapshots = await Promise.all(
    [0.1, 0.2, 0.3, 0.7].map(async ms => {
      const metrics = new Metrics('1.2.3')
      metrics.edge.phases.connect.observe(ms)
      return metrics.snapshot()
    }),
  )
  const sumIn = async (order: readonly number[]) => {
    const sums = await sumOf(order.map(i => snapshots[i]!))
    const family = sums.find(({ name }) => name === 'gatehouse_origin_phase_duration_seconds')!
    return family.values.map(({ value }) => value)
  }
  const first = await sumIn([0, 1, 2, 3])
  assert.ok(first.some(value => Math.abs(value - 0.0013) < 1e-5))
  for (const order of [
    [3, 2, 1, 0],
    [2, 0, 3, 1],
    [1, 3, 0, 2],
  ])
    assert.deepEqual(await sumIn(order), first)
})

test('the lag of the event loop is how late it was, without the time between two looks', async () => {
  const metrics = new Metrics('0')
  await wait(350)
  const end = performance.now() + 300
  while (performance.now() < end);
  await wait(20)
  const { samples } = readMetrics(await metrics.expose())
  const lag = (of: string) => samples.get(`nodejs_eventloop_lag_${of}_seconds`)!
  assert.ok(lag('min') < 0.09, `${lag('min')}`)
  assert.ok(lag('max') > 0.15, `${lag('max')}`)
  const again = readMetrics(await metrics.expose([await metrics.snapshot()])).samples
  for (const name of ['min', 'max', 'mean', 'p50', 'p99']) {
    const seconds = again.get(`nodejs_eventloop_lag_${name}_seconds`)!
    assert.ok(seconds >= 0 && seconds < 60, `${name}: ${seconds}`)
  }
})

test('every counter and gauge shows what the edge did to it', async () => {
  const metrics = new Metrics('0')
  const { edge } = metrics
  edge.error(522)
  edge.error(1015)
  edge.error(1015)
  edge.retry()
  edge.ejections.inc()
  edge.retryBudgetExhausted.inc()
  edge.poolMembers = () => [{ pool: 'main', origin: 'http://a:80', state: 'ejected' }]
  edge.clientAbort()
  edge.clientConnections.inc()
  edge.originConnections.inc()
  edge.originConnections.inc()
  edge.originConnections.dec()
  edge.originQueue.inc()
  edge.originLookups.failed.inc()
  edge.originChecks.bad.inc()
  edge.eventStreams.inc()
  edge.webSockets.inc()
  edge.ai.allowed.authentication_off.inc()
  edge.ai.refused.missing.inc()
  edge.ai.refused.missing.inc()
  edge.ai.lookups.asked.inc()
  edge.ai.logEntries.dropped.inc()
  edge.access.denied.country.inc()
  edge.access.banned.inc()
  edge.access.listReloads.failure.inc()
  edge.access.activeBans = () => 3
  edge.expressionFailures.limits.inc()
  metrics.people.signIn('password', 'refused')
  metrics.people.authorization('asked')
  metrics.oauthGrants = 7
  metrics.people.authorization({ error: 'made up' })
  metrics.people.token('refresh_token', null)
  metrics.people.token('made up', 'unsupported_grant_type')
  metrics.domainChecks.no_match.inc()
  metrics.workerRestarts.inc()
  metrics.reloads.failure.inc()
  metrics.droppedLogLines.inc()
  const { samples } = readMetrics(await metrics.expose())
  const expected = {
    'gatehouse_errors_total{code="522"}': 1,
    'gatehouse_errors_total{code="1015"}': 2,
    gatehouse_origin_retries_total: 1,
    gatehouse_origin_ejections_total: 1,
    gatehouse_retry_budget_exhausted_total: 1,
    'gatehouse_origin_healthy{pool="main",origin="http://a:80"}': 0,
    gatehouse_client_aborts_total: 1,
    gatehouse_origin_queue_length: 1,
    'gatehouse_origin_lookups_total{result="failed"}': 1,
    'gatehouse_origin_checks_total{result="bad"}': 1,
    'gatehouse_connections_open{side="client"}': 1,
    'gatehouse_connections_open{side="origin"}': 1,
    'gatehouse_streams_open{kind="event_stream"}': 1,
    'gatehouse_streams_open{kind="websocket"}': 1,
    'gatehouse_ai_decisions_total{result="allowed",reason="authentication_off"}': 1,
    'gatehouse_ai_decisions_total{result="allowed",reason="authenticated"}': 0,
    'gatehouse_ai_decisions_total{result="refused",reason="missing"}': 2,
    'gatehouse_token_lookups_total{source="asked"}': 1,
    'gatehouse_ai_log_entries_total{result="dropped"}': 1,
    'gatehouse_access_decisions_total{result="denied",kind="country"}': 1,
    'gatehouse_access_decisions_total{result="denied",kind="default"}': 0,
    'gatehouse_access_decisions_total{result="banned",kind="ban"}': 1,
    'gatehouse_access_decisions_total{result="failed",kind="expression"}': 0,
    gatehouse_access_bans: 3,
    'gatehouse_address_list_reloads_total{result="failure"}': 1,
    'gatehouse_geo_database_reloads_total{result="success"}': 0,
    'gatehouse_expression_failures_total{in="limits"}': 1,
    'gatehouse_sign_ins_total{step="password",result="refused"}': 1,
    'gatehouse_sign_ins_total{step="link",result="signed_in"}': 0,
    'gatehouse_oauth_authorizations_total{result="asked"}': 1,
    'gatehouse_oauth_authorizations_total{result="other"}': 1,
    'gatehouse_oauth_tokens_total{grant_type="refresh_token",result="issued"}': 1,
    'gatehouse_oauth_tokens_total{grant_type="other",result="unsupported_grant_type"}': 1,
    gatehouse_oauth_grants: 7,
    'gatehouse_domain_checks_total{outcome="no_match"}': 1,
    'gatehouse_domain_checks_total{outcome="found"}': 0,
    gatehouse_worker_restarts_total: 1,
    gatehouse_log_lines_dropped_total: 1,
    'gatehouse_config_reloads_total{result="success"}': 0,
    'gatehouse_config_reloads_total{result="failure"}': 1,
  }
  for (const [series, value] of Object.entries(expected)) assert.equal(samples.get(series), value, series)
})

test('a status without a class counts as other, and the label set stays closed', async () => {
  const metrics = new Metrics('0')
  const zone = metrics.edge.zone('none')
  for (const status of [0, 99, 600, 999, 101, 599]) zone.request(status, 1)
  zone.preview(1)
  assert.equal(metrics.edge.zone('none'), zone)
  const { samples } = readMetrics(await metrics.expose())
  const count = (name: string) => samples.get(`gatehouse_requests_total{zone="none",status_class="${name}"}`)
  assert.deepEqual(['other', '1xx', '2xx', '3xx', '4xx', '5xx', 'preview'].map(count), [4, 1, 0, 0, 0, 1, 1])
})

test('decisions of AI gateways have a series for each reason there is, and no other', async () => {
  const { samples } = readMetrics(await new Metrics('0').expose())
  const series = [...samples.keys()].filter(name => name.startsWith('gatehouse_ai_decisions_total'))
  assert.deepEqual(
    series.map(name => /reason="(\w+)"/.exec(name)?.[1]),
    [
      ...allowReasons,
      ...refuseReasons.map(reason => (reason === 'store_unreachable' ? 'store_away' : reason)),
    ],
  )
})

test('an origin counts as healthy where all processes find it so that have an opinion, and where none has', async () => {
  const [first, second] = [new Metrics('0'), new Metrics('0')]
  const member = (origin: string, state: 'unchecked' | 'healthy' | 'failing') => ({
    pool: 'main',
    origin,
    state,
  })
  first.edge.poolMembers = () => [
    member('http://a', 'healthy'),
    member('http://b', 'healthy'),
    member('http://c', 'unchecked'),
  ]
  second.edge.poolMembers = () => [
    member('http://a', 'unchecked'),
    member('http://b', 'failing'),
    member('http://c', 'unchecked'),
  ]
  const { samples } = readMetrics(await first.expose([await second.snapshot()]))
  const healthy = (origin: string) => samples.get(`gatehouse_origin_healthy{pool="main",origin="${origin}"}`)
  assert.deepEqual([healthy('http://a'), healthy('http://b'), healthy('http://c')], [1, 0, 1])
  const inState = (state: string, origin: string) =>
    samples.get(`gatehouse_origin_state{pool="main",origin="${origin}",state="${state}"}`)
  assert.deepEqual(
    [inState('unchecked', 'http://c'), inState('failing', 'http://b'), inState('down', 'http://a')],
    [2, 1, 0],
  )
})

test('a fact that a gateway and the one before it both report is no sum of the two', async () => {
  const [first, second] = [new Metrics('0'), new Metrics('0')]
  const notAfter = Date.UTC(2027, 0, 1)
  for (const metrics of [first, second]) {
    metrics.storeHealth = () => ({
      isUnreachable: false,
      refusal: null,
      deafness: null,
      degradation: { reasons: [] },
    })
    metrics.certificates = () => [{ name: 'a.test', keyType: 'EC', notAfter }]
    metrics.clientTrust = () => [{ kind: 'authority', name: 'ca', notAfter }]
    metrics.renewals = () => [{ host: 'a.test', renewAt: notAfter }]
    metrics.automaticCertificates = () => ({ valid: 2 })
    metrics.ticketKeys = () => ({ since: notAfter, isShared: true })
  }
  const alone = readMetrics(await first.expose()).samples
  const together = readMetrics(await first.expose([await second.snapshot()])).samples
  const facts =
    /^gatehouse_(?:store_(?:up|writable|notices_up)|tls_(?:certificate|automatic|client_trust|ticket))/
  const shown = [...alone].filter(([name]) => facts.test(name))
  assert.equal(shown.length, 9)
  for (const [name, value] of shown) assert.equal(together.get(name), value, name)
})

test('the worst event loop lag and file descriptor use of all processes is shown', async () => {
  const metrics = new Metrics('0')
  const other = (await metrics.snapshot()).map(family => ({
    ...family,
    values: family.values.map(one => ({ ...one, value: family.name === 'process_max_fds' ? 7 : 1e6 })),
  }))
  const { samples } = readMetrics(await metrics.expose([other]))
  const shown = (name: string) => samples.get(name)
  assert.deepEqual(
    [
      'nodejs_eventloop_lag_p50_seconds',
      'nodejs_eventloop_lag_p90_seconds',
      'nodejs_eventloop_lag_p99_seconds',
      'process_open_fds',
      'process_max_fds',
    ].map(shown),
    [1e6, 1e6, 1e6, 1e6, 7],
  )
})

test('OAuth grants are counted once, whoever has asked the store, and not at all where nobody could', async () => {
  const [first, second] = [new Metrics('0'), new Metrics('0')]
  const shown = async () => {
    const { samples } = readMetrics(await first.expose([await second.snapshot()]))
    return samples.get('gatehouse_oauth_grants')
  }
  assert.equal(await shown(), undefined)
  first.oauthGrants = 3
  assert.equal(await shown(), 3)
  second.oauthGrants = 3
  assert.equal(await shown(), 3)
})

test('the numbers of several processes are added up, those of ended ones without their gauges', async () => {
  const [supervisor, living, ended] = [new Metrics('0'), new Metrics('0'), new Metrics('0')]
  for (const { edge } of [living, ended]) {
    edge.zone('shop.example').request(200, 7)
    edge.error(522)
    edge.clientConnections.inc()
  }
  const left = structuredClone(await remains([await ended.snapshot()]))
  const { samples } = readMetrics(await supervisor.expose([await living.snapshot(), left]))
  assert.equal(samples.get('gatehouse_requests_total{zone="shop.example",status_class="2xx"}'), 2)
  assert.equal(
    samples.get(
      'gatehouse_request_duration_seconds_bucket{zone="shop.example",status_class="2xx",le="+Inf"}',
    ),
    2,
  )
  assert.equal(samples.get('gatehouse_errors_total{code="522"}'), 2)
  assert.equal(samples.get('gatehouse_connections_open{side="client"}'), 1)
  assert.equal(samples.get(`gatehouse_build_info{version="0",node="${process.versions.node}"}`), 1)
})

test('what is left of ended processes can itself be added up again', async () => {
  const once = async () => {
    const metrics = new Metrics('0')
    metrics.edge.retry()
    return metrics.snapshot()
  }
  const first = await remains([await once()])
  const both = await remains([first, await once()])
  const { samples } = readMetrics(await new Metrics('0').expose([both]))
  assert.equal(samples.get('gatehouse_origin_retries_total'), 2)
})
