// Rehearses a request: the real steps decide, on a copy of their state. Nothing is counted, banned or logged,
// and no origin is contacted.

import { X509Certificate } from 'node:crypto'
import { systemClock } from '../../base/clock.ts'
import { AddressTable } from '../../net/address/address-table.ts'
import { memoizeEach } from '../../base/memo.ts'
import type { Bans } from '../../access/bans/bans.ts'
import type { AccessDecision } from '../../access/policy.ts'
import { nothingAutomatic } from '../../certificates/acme/automatic.ts'
import { trustOf } from '../../certificates/client-trust.ts'
import type { Config } from '../../config/model/config.ts'
import { ClientCertificate } from '../../tls/client-certificate.ts'
import { type Refusal, refuse } from '../../errors/catalogue/refusal.ts'
import type { Counting, Limiter } from '../../limits/limiter.ts'
import { createLogger } from '../../log/log.ts'
import { EdgeMetrics } from '../../metrics/counters/edge-metrics.ts'
import { TallyBook } from '../../activity/tally-book.ts'
import type { Explained, RequestInQuestion } from '../../zones/explanation.ts'
import { deliver } from '../exchange/deliver.ts'
import { tooLarge } from '../steps/bound.ts'
import { requestBody } from '../../http1/heads/request-head.ts'
import { Exchanges } from '../client/exchanges.ts'
import { HeadReader } from '../client/head-reader.ts'
import type { ClientTls, Exchange, Step } from '../exchange/exchange.ts'
import type { Plane } from '../snapshot/plane.ts'
import { buildSnapshot, type EdgeZone, type Snapshot, type SnapshotParts } from '../snapshot/snapshot.ts'
import { RehearsalClient, typicalTls } from './client.ts'
import { explanationOf } from './explanation.ts'
import { headBytes } from './request-bytes.ts'
import type { Decision, Rehearsed } from './rehearsed.ts'
import { steps } from '../serve/steps.ts'
import { ForetoldBudgets } from './foretold-budgets.ts'
import { ReadOnlyLimiter } from './read-only-limiter.ts'

interface RehearsalParts {
  readonly plane: Plane
  readonly config: Config
  readonly limiter: Limiter
  readonly bans: Bans
  readonly snapshotParts: SnapshotParts
}

/** Explains what would happen to a request; rejects only for a bug. */
export async function rehearse(parts: RehearsalParts, question: RequestInQuestion): Promise<Explained> {
  const access: AccessDecision[] = []
  const limiter = new ReadOnlyLimiter(parts.limiter)
  const plane = planeOf(parts, question, limiter, decision => access.push(decision))
  const client = new RehearsalClient(question.address, question.body, tlsFor(parts.config, question))
  const start = begin(plane, client, question)
  const { x } = start
  x.keepAlive = false
  client.exchange = x
  const decisions: Decision[] = []
  const rehearsed: Rehearsed = { x, client, decisions, access, limiter }
  if (start.refusal !== null) decisions.push({ step: 'examine', verdict: start.refusal })
  for (const { name, decide } of steps) {
    if (isOver(decisions)) break
    const verdict = name === 'forward' ? refusalOfBody(x, question) : await verdictOf(x, client, decide)
    decisions.push({ step: name, verdict })
    const elsewhere = mismatchOf(x, question)
    if (elsewhere !== null) return { elsewhere }
  }
  const { verdict } = decisions.at(-1)!
  if (verdict !== null && typeof verdict === 'object') deliver(x, verdict)
  return { explanation: explanationOf(rehearsed) }
}

/** With the certificate in question if the zone requests one; null without a TLS listener. */
function tlsFor(
  { listen, zones }: Config,
  { zone, host, clientCertificate }: RequestInQuestion,
): ClientTls | null {
  if (!listen.some(({ tls }) => tls)) return null
  const trust = trustOf(zones.find(({ name }) => name === zone)?.tls.client ?? null)
  if (trust === '' || clientCertificate === null) return { ...typicalTls, trust }
  const certificate = new ClientCertificate(new X509Certificate(clientCertificate), null)
  return { ...typicalTls, trust, certificate, host: host ?? '' }
}

function isOver(decisions: readonly Decision[]): boolean {
  return decisions.length > 0 && decisions.at(-1)!.verdict !== null
}

async function verdictOf(x: Exchange, client: RehearsalClient, decide: Step): Promise<Decision['verdict']> {
  const verdict = decide(x)
  const end = verdict instanceof Promise ? await Promise.race([verdict, client.bodyEnd]) : verdict
  if (end === 'responded') return 'responds'
  return end === 'unknown' ? 'depends' : end
}

/** Returns what the request turned out to concern outside of the question. */
function mismatchOf({ zone, ai }: Exchange, question: RequestInQuestion): 'zone' | 'account' | null {
  if (zone !== null && zone.config.name !== question.zone) return 'zone'
  return (ai?.account ?? question.account) === question.account ? null : 'account'
}

function refusalOfBody(x: Exchange, { body, bodySize }: RequestInQuestion): Refusal | null {
  const size = body === null ? (bodySize ?? 0) : Buffer.byteLength(body)
  return x.head.chunked && size > x.bodyLimit ? tooLarge(x) : null
}

function begin(
  plane: Plane,
  client: RehearsalClient,
  question: RequestInQuestion,
): { readonly x: Exchange; readonly refusal: Refusal | null } {
  const bytes = headBytes(question)
  const head = new HeadReader().read(bytes, plane.snapshot.limits) ?? 'bad_request'
  const exchanges = new Exchanges(client, plane)
  if (typeof head === 'string') return { x: exchanges.ofBytes(bytes, client), refusal: refuse(head) }
  client.body = requestBody(head)
  const x = exchanges.of(head, client.body, client)
  if (x !== null) return { x, refusal: null }
  return { x: exchanges.ofBytes(bytes, client), refusal: refuse('host_invalid') }
}

function planeOf(
  { plane, config, bans, snapshotParts }: RehearsalParts,
  question: RequestInQuestion,
  limiter: Counting,
  witness: (decision: AccessDecision) => void,
): Plane {
  const zones = config.zones.filter(({ name }) => name === question.zone)
  const snapshot = buildSnapshot(
    { ...config, zones },
    {
      ...snapshotParts,
      metrics: discardedMetrics,
      tallies: discardedTallies,
      access: { ...snapshotParts.access, bans: bans.still, metrics: discardedMetrics, witness, tableOf },
      before: plane.snapshot,
      automatic: nothingAutomatic,
      isRehearsal: true,
    },
  )
  const { ai } = plane
  return {
    snapshot: {
      ...snapshot,
      zones: { find: host => zoneFor(host, plane.snapshot, snapshot, question.zone) },
    },
    clock: plane.clock,
    coarseNow: plane.coarseNow,
    date: () => plane.date(),
    metrics: discardedMetrics,
    noteShortage: () => {},
    accessLog: null,
    log: silentLog,
    spans: null,
    ai: ai && {
      tokens: ai.tokens.countingIn(discardedMetrics.ai),
      gateways: ai.gateways,
      routes: ai.routes,
      custom: ai.custom,
      keys: { of: ai.keys.of.bind(ai.keys), used: () => {} },
      logs: ai.logs,
      budgets: new ForetoldBudgets(ai.budgets),
      prices: ai.prices,
      answers: null,
      claimed: null,
      guardWebhooks: null,
      issuer: ai.issuer ?? null,
    },
    models: { of: () => ({ models: null, asking: null }) },
    geo: plane.geo,
    limiter,
    tallies: discardedTallies,
    sidePort: plane.sidePort,
    securePort: plane.securePort,
    documentation: plane.documentation,
    abandoned: new Set(),
    checkpoints: { add: () => {} },
    isRehearsal: true,
    isDraining: false,
    isReviewing: false,
    isGoingAway: false,
  }
}

/** Finds the zone as the data plane does. Of all candidates, only the zone in question was rebuilt. */
function zoneFor(host: string, inUse: Snapshot, rebuilt: Snapshot, name: string): EdgeZone | null {
  const zone = inUse.zones.find(host)
  return zone?.config.name === name ? rebuilt.zones.find(host) : zone
}

/** Kept apart from the tables in use, which lie closer to their rules in memory. */
const tableOf = memoizeEach((networks: readonly string[]) => AddressTable.of(networks))
const discardedMetrics = new EdgeMetrics()
const discardedTallies = new TallyBook(systemClock, () => {})
const silentLog = createLogger('fatal', { write: () => {} })
