// Why a step decided as it did, as a sentence and as data.

import { withoutQuery } from '../../base/path/path.ts'
import { authenticatesConnection } from '../../http1/fields/connection-authentication.ts'
import { errorRows } from '../../errors/catalogue/catalogue.ts'
import { type Refusal, retryAfterOf } from '../../errors/catalogue/refusal.ts'
import type { Compared, DecidingRule, ExplainedError, ExplainedStep } from '../../zones/explanation.ts'
import { HostLookup } from '../../zones/lookup.ts'
import type { RouteConfig, ZoneConfig } from '../../config/model/config.ts'
import type { GateConfig } from '../../config/model/protect-config.ts'
import { isMetered } from '../ai/open-log.ts'
import type { Exchange } from '../exchange/exchange.ts'
import type { Admission } from '../gates/gate.ts'
import { accessReason } from './access.ts'
import { limitsOf } from './limits.ts'
import { messageReason, permitReason } from './mcp.ts'
import type { Decision, Reason, Rehearsed } from './rehearsed.ts'
import { redacted, redactedPath } from './redact.ts'
import type { StepName, steps } from '../serve/steps.ts'

/** Describes a step, also one that was not reached. */
export function explainStep(
  { name: step, title }: (typeof steps)[number],
  rehearsed: Rehearsed,
): Omit<ExplainedStep, 'number'> {
  const decision = rehearsed.decisions.find(one => one.step === step)
  if (decision === undefined)
    return { step, title, verdict: 'not_reached', reason: '', error: null, rule: null, compared: [] }
  const { verdict } = decision
  const refusal = refusalIn(decision)
  const { reason, rule = null, compared = [] } = reasons[step](rehearsed, refusal)
  return {
    step,
    title,
    verdict: verdict === null ? 'passes' : typeof verdict === 'string' ? verdict : 'refuses',
    reason,
    error: refusal && errorOf(refusal),
    rule,
    compared,
  }
}

function refusalIn({ verdict }: Decision): Refusal | null {
  return typeof verdict === 'string' ? null : verdict
}

function errorOf({ error, faults: [fault] }: Refusal): ExplainedError {
  const { code, title } = errorRows[error]
  return { code: fault?.code ?? code, name: error, title, message: fault?.message ?? null }
}

function messageOf({ error, faults: [fault], wording }: Refusal): string {
  return fault?.message ?? wording?.heading ?? errorRows[error].title
}

function causeOf({ cause }: Refusal): string {
  return (cause as { readonly code: string }).code
}

const notAi: Reason = { reason: 'Not an AI call.' }

type Explain = (rehearsed: Rehearsed, refusal: Refusal | null) => Reason

const reasons: Readonly<Record<StepName, Explain>> = {
  examine: ({ x }, refusal) => ({
    reason: refusal === null ? 'HTTP allows it.' : `${messageOf(refusal)}.`,
    compared: x.head.method === '' ? [] : [{ what: 'method', value: redacted(x.head.method), with: null }],
  }),
  locate: ({ x }, refusal) => locateReason(x, refusal),
  secure: ({ x }, refusal) => ({
    reason: refusal === null ? `Reached over ${x.scheme}.` : `${messageOf(refusal)}.`,
    compared: certificateComparison(x),
  }),
  admit: ({ x, access }, refusal) => accessReason(x, access, refusal),
  meter: (rehearsed, refusal) => meterReason(rehearsed, refusal),
  preview: ({ x }, refusal) => ({
    reason: previewReason(x, refusal),
    compared: x.asksForPreview
      ? [{ what: 'path', value: redactedPath(withoutQuery(x.head.target)), with: '/cdn-cgi/error/' }]
      : [],
  }),
  describe: ({ x }, refusal) => {
    if (x.isOpening)
      return {
        reason:
          x.head.method === 'HEAD'
            ? 'HEAD of a base URL, which opens a connection.'
            : 'A preflight of a browser, which asks what the page may send.',
      }
    if (x.resource !== null) return { reason: 'The metadata of a route with a gate for access tokens.' }
    if (x.asksForKeySet) return { reason: 'The keys that sign svc-identity.' }
    if (!x.asksForMetadata) return { reason: 'Not a request for metadata.' }
    return { reason: refusal === null ? 'The metadata of AI routes.' : `${messageOf(refusal)}.` }
  },
  protect: ({ x }, refusal) => protectReason(x, refusal),
  authenticate: ({ x }, refusal) => authenticateReason(x, refusal),
  bound: ({ x }, refusal) => ({
    reason:
      refusal?.error === 'dns_loop'
        ? 'The request has passed this gateway before.'
        : refusal === null
          ? 'Within the limit.'
          : 'The body is too large.',
    compared: [
      {
        what: 'body size',
        value: x.head.contentLength < 0 ? null : String(x.head.contentLength),
        with: `${x.bodyLimit}`,
      },
    ],
  }),
  understand: ({ x }, refusal) =>
    refusal === null ? messageReason(x) : { reason: `${messageOf(refusal)}.` },
  permit: ({ x }, refusal) => ({
    reason: refusal === null ? permitReason(x) : `${messageOf(refusal)}: ${causeOf(refusal)}.`,
  }),
  meterGateway: (rehearsed, refusal) => {
    if (rehearsed.x.ai === null) return notAi
    return meterReason(rehearsed, refusal, true)
  },
  openLog: ({ x }, refusal) => {
    if (x.ai === null) return notAi
    if (refusal !== null) return { reason: `${messageOf(refusal)}.` }
    return { reason: x.tap === null || !x.tap.isStored ? 'The call is not logged.' : 'The call is logged.' }
  },
  plan: ({ x }, refusal) => planReason(x, refusal),
  claim: ({ x }) => {
    if (x.ai === null) return notAi
    const { idempotencyKey } = x.ai
    return { reason: idempotencyKey === null ? 'It may be made each time.' : 'It is made once for its key.' }
  },
  reserve: ({ x }, refusal) => {
    if (x.ai === null) return notAi
    if (refusal !== null) return { reason: `${messageOf(refusal)}.` }
    return {
      reason: isMetered(x, x.ai) ? 'Counted in its spend limits.' : 'No spend limit governs the call.',
    }
  },
  inspect: ({ x }, refusal) => {
    if (x.ai === null) return notAi
    if (refusal !== null) return { reason: `${messageOf(refusal)}.` }
    return { reason: x.ai.guard === null ? 'The gateway has no guard.' : 'The guard lets it pass.' }
  },
  recall: ({ x }) => {
    if (x.ai === null) return notAi
    const { cacheControls } = x.ai
    if (cacheControls === null || cacheControls.isSkipped) return { reason: 'No response is reused.' }
    return { reason: `A response of the last ${cacheControls.ttl} s to an equal call is reused.` }
  },
  forward: ({ x }, refusal) => ({
    reason:
      refusal !== null
        ? `${messageOf(refusal)}.`
        : `Sent to the ${x.ai === null ? 'origin' : 'provider'}${connectionSuffix(x)}.`,
  }),
}

function protectReason({ route, admission, status }: Exchange, refusal: Refusal | null): Reason {
  const gates = route?.gates ?? null
  if (gates === null) return { reason: 'The route has no gates.' }
  const compared = gates.map(({ kind, config }) => ({
    what: kind,
    value: null,
    with: needOf(config),
  }))
  if (refusal !== null) return { reason: `${messageOf(refusal)}.`, compared }
  const subject = admission?.claims.sub
  if (typeof subject === 'string')
    return { reason: `Let in as ${redacted(subject)}${endSuffix(admission!)}.`, compared }
  if (status === 303) return { reason: 'It has no session: a browser is led to sign in.', compared }
  return { reason: 'An authorizer would be asked, and is taken to let it in.', compared }
}

function endSuffix({ watch }: Admission): string {
  if (watch === undefined) return ''
  return `, until the ${watch.kind === 'sign_in' ? 'session' : 'token'} ends`
}

/** What a gate goes by. */
function needOf(config: GateConfig): string {
  if (config.kind === 'forward') return config.url
  if (config.kind === 'sign_in') return 'a session'
  if (config.kind === 'jwt') return config.issuer
  return 'scopes' in config.accepts ? config.accepts.scopes.join(' ') : config.accepts.permission
}

function previewReason({ isPreview, snapshot }: Exchange, refusal: Refusal | null): string {
  if (refusal === null) return 'Not a preview.'
  if (isPreview) return `A preview of ${errorRows[refusal.error].title}.`
  return snapshot.previews === 'on'
    ? 'No error has this code.'
    : `errors.previews is ${snapshot.previews}, so the client gets 404.`
}

function connectionSuffix({ outgoing }: Exchange): string {
  return authenticatesConnection(outgoing) ? ', on a connection of its own: its credentials are for that' : ''
}

function certificateComparison({ client, zone }: Exchange): readonly Compared[] {
  const requirement = zone === null ? null : zone.config.tls.client
  if (requirement === null) return []
  const value = client.tls?.certificate?.subject ?? null
  return [
    { what: 'client certificate', value: value === null ? null : redacted(value), with: requirement.mode },
  ]
}

function locateReason(x: Exchange, refusal: Refusal | null): Reason {
  const { zone, route, paths, head } = x
  const host: Compared = { what: 'host', value: redacted(x.host), with: null }
  if (zone === null && (x.audience.kind === 'ai' || x.asksForMetadata || x.isOpening || route !== null))
    return { reason: refusal === null ? 'An AI route.' : `${messageOf(refusal)}.`, compared: [host] }
  if (zone === null) return { reason: 'No zone has this host.', compared: [host] }
  const compared = [{ ...host, with: patternFor(zone.config, x.host) }, ...readingsOf(x)]
  const rule = route === null ? null : routeRule(zone.config.name, route.config)
  if (refusal === null)
    return {
      reason: route === null ? 'A preview needs no route.' : `Route ${route.config.path}.`,
      rule,
      compared,
    }
  if (zone.fault !== null) return { reason: `The zone cannot be served: ${messageOf(refusal)}.`, compared }
  if (zone.config.paused) return { reason: 'The zone is paused.', compared }
  const isUnclear = paths === null || refusal.error === 'bad_request'
  return {
    reason: isUnclear ? 'Origins may read the path as different routes.' : 'No route matches this path.',
    compared: head.target === '' ? [] : compared,
  }
}

function patternFor({ hosts, isDefault }: ZoneConfig, host: string): string | null {
  return new HostLookup(
    hosts.map(name => [name, name] as const),
    isDefault ? 'default' : null,
  ).find(host)
}

function readingsOf({ head, paths, zone }: Exchange): readonly Compared[] {
  const sent = redactedPath(withoutQuery(head.target))
  const routeOf = (path: string) => {
    const route = zone!.routes.find([path])
    return route === null || route === 'ambiguous' ? null : route.config.path
  }
  if (paths === null) return [{ what: 'path', value: sent, with: null }]
  const route = zone!.routes.find(paths)
  const gated = route === null || route === 'ambiguous' ? null : zone!.gatedPaths?.behind(paths, route.config)
  const loose = gated ? [{ what: 'path in other letters', value: sent, with: gated }] : []
  const strict = paths.map(path => {
    const reading = redactedPath(withoutQuery(path))
    const what = reading === sent ? 'path' : `path ${sent ?? ''} read as`
    return { what: what.trim(), value: reading, with: routeOf(path) }
  })
  return [...strict, ...loose]
}

function routeRule(zone: string, { path, line }: RouteConfig): DecidingRule {
  return { ...inFile, kind: 'route', name: path, zone, line: line ?? null }
}

const inFile = { id: null, number: null, set_by: 'file', description: null } as const

function meterReason(rehearsed: Rehearsed, refusal: Refusal | null, isOfGateway = false): Reason {
  const { x } = rehearsed
  const states = limitsOf(rehearsed).filter(({ kind }) => (kind === 'gateway_rate_limit') === isOfGateway)
  const compared = states.map(({ name, used, limit }) => ({
    what: name,
    value: `${used} used`,
    with: `${limit}`,
  }))
  if (refusal === null) {
    const exceeded = states.filter(({ verdict }) => verdict === 'over')
    const summary = states.length === 0 ? 'No limit counts it.' : `Within ${amount(states.length, 'limit')}.`
    const names = exceeded.map(({ name }) => name).join(', ')
    return { reason: exceeded.length === 0 ? summary : `Over ${names}, which only log.`, compared }
  }
  const exceeded = states.find(({ verdict, action }) => verdict === 'over' && action === 'block')
  if (exceeded === undefined) return { reason: `${messageOf(refusal)}.`, compared }
  const { kind, name, line } = exceeded
  const rule: DecidingRule = { ...inFile, kind, name, line, zone: x.zone?.config.name ?? null }
  return {
    reason: `Over the limit ${name}; retry after ${retryAfterOf(refusal) ?? exceeded.resets_in} s.`,
    rule: isOfGateway ? { ...rule, set_by: 'api' } : rule,
    compared,
  }
}

function amount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}

function authenticateReason(x: Exchange, refusal: Refusal | null): Reason {
  const { ai } = x
  if (ai === null) return { reason: `Not an AI call. ${credentialReason(x, refusal)}` }
  if (refusal !== null) return { reason: `${messageOf(refusal)}.` }
  const { id, authentication } = ai.gateway!
  if (!authentication) return { reason: `Gateway ${id} requires no token.` }
  return { reason: `Gateway ${id} requires a token, and this one may call it.` }
}

function credentialReason({ credentialPlace: place, route }: Exchange, refusal: Refusal | null): string {
  if (route!.config.own !== undefined) return 'The gateway itself serves it, credentials included.'
  if (place === null) return 'No credential of this gateway was found in it.'
  const sentence = `It has a credential of this gateway in ${place}`
  return refusal === null
    ? `${sentence}, which goes to the side port alone.`
    : `${sentence}, which no origin may see.`
}

function planReason({ ai, route }: Exchange, refusal: Refusal | null): Reason {
  if (ai !== null) {
    if (refusal !== null) return { reason: `${messageOf(refusal)}.` }
    if (ai.target.api === 'rest' && ai.target.operation === 'models')
      return { reason: 'A list of models, or one of them.' }
    const provider = ai.provider?.name ?? null
    return { reason: provider === null ? 'The provider depends on the body.' : `Provider ${provider}.` }
  }
  const { config, pool } = route!
  if (refusal === null)
    return { reason: config.pool === null ? 'The gateway itself serves it.' : `Pool ${pool.name}.` }
  if (refusal.error === 'tunnel_error') return { reason: `No origin of pool ${pool.name} is healthy.` }
  return { reason: pool.members.length === 0 ? 'The route has no pool.' : `${messageOf(refusal)}.` }
}
