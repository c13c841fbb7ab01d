import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startGateway } from '../help/gateway.ts'
import { readMetrics } from '../help/prometheus.ts'
import { siteConfig, startSite } from '../help/site.ts'
import { until } from '../help/until.ts'

test('what went through the gateway is counted by zone and class, code and phase, under names that Prometheus reads; an origin without checks has its series before', async t => {
  const origin = await startSite(t, (_, response) => response.end('hello'))
  const gateway = await startGateway(t, siteConfig(origin))
  const { samples: before } = readMetrics(await gateway.metrics())
  const labels = `pool="site",origin="${origin}"`
  assert.equal(before.get(`gatehouse_origin_healthy{${labels}}`), 1)
  assert.equal(before.get(`gatehouse_origin_state{${labels},state="unchecked"}`), 1)
  await (await fetch(gateway.edge)).text()
  await (await fetch(`${gateway.edge}/cdn-cgi/error/522`)).text()
  const { samples } = readMetrics(await gateway.metrics())
  assert.equal(samples.get('gatehouse_requests_total{zone="site",status_class="2xx"}'), 1)
  assert.equal(samples.get('gatehouse_requests_total{zone="site",status_class="5xx"}'), 0)
  assert.equal(samples.get('gatehouse_requests_total{zone="site",status_class="preview"}'), 1)
  assert.equal(samples.get('gatehouse_request_duration_seconds_count{zone="site",status_class="preview"}'), 1)
  assert.equal(samples.get('gatehouse_errors_total{code="522"}'), undefined)
  assert.equal(samples.get('gatehouse_request_duration_seconds_count{zone="site",status_class="2xx"}'), 1)
  assert.equal(samples.get('gatehouse_origin_phase_duration_seconds_count{phase="connect"}'), 1)
  assert.equal(samples.get('gatehouse_connections_open{side="origin"}'), 1)
})

test('open connections are a gauge that returns to zero; paths, hosts and client addresses never become labels', async t => {
  const origin = await startSite(t, (_, response) => response.end())
  const gateway = await startGateway(t, siteConfig(origin))
  await (await fetch(gateway.edge, { headers: { connection: 'close' } })).text()
  const open = async () =>
    readMetrics(await gateway.metrics()).samples.get('gatehouse_connections_open{side="client"}')
  await until(async () => (await open()) === 0)
  const { port } = new URL(gateway.edge)
  await fetch(`${gateway.edge}/a-path-to-see?and=a-query`, { headers: { 'x-forwarded-for': '192.0.2.77' } })
  await fetch(`http://localhost:${port}/`)
  const text = await gateway.metrics()
  // The configuration names the origins, and nobody else can.
  const ofOrigins = `gatehouse_origin_healthy{pool="site",origin="${origin}"} 1`
  assert.ok(text.includes(ofOrigins))
  assert.doesNotMatch(
    text.replace(ofOrigins, '').replaceAll(`gatehouse_origin_state{pool="site",origin="${origin}"`, ''),
    /a-path-to-see|a-query|192\.0\.2\.77|localhost|127\.0\.0\.1/,
  )
  assert.equal(readMetrics(text).samples.get('gatehouse_requests_total{zone="none",status_class="4xx"}'), 1)
})
