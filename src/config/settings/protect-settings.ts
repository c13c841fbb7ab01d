// The settings of the gates of a zone or route: who may pass.

import { minute, second } from '../../base/units.ts'
import { didYouMean } from '../../base/text/nearest.ts'
import type { Reading } from '../../base/text/quantity.ts'
import { AddressSet } from '../../net/address/address.ts'
import { isPublic } from '../../net/address/public-address.ts'
import { isIP } from 'node:net'
import { type Findings, type Place, stepInto } from '../file/mistake.ts'
import {
  type ClaimField,
  type ForwardGateConfig,
  type GateConfig,
  type IdentityConfig,
  type JwtGateConfig,
  jwtAlgorithms,
  type ProtectConfig,
  roleNames,
  type SignInGateConfig,
  type TokenGateConfig,
} from '../model/protect-config.ts'
import { permissionNames } from '../model/permission-names.ts'
import { claimCondition } from '../shape/expression-shape.ts'
import { httpScheme, isLoopback } from '../shape/host-rules.ts'
import { refuseRepeats, refuseUnknown } from '../shape/name-checks.ts'
import {
  accept,
  accountId,
  certificates,
  duration,
  matching,
  network,
  oneOf,
  truth,
  whole,
} from '../shape/rules.ts'
import {
  dictionary,
  formed,
  list,
  mapping,
  mappingOrList,
  oneOrMore,
  optional,
  type Placed,
  placed,
  type Rule,
  required,
  scalar,
  switched,
  type Value,
  wordOr,
} from '../shape/shape.ts'
import { settableHeader } from './rewrite-settings.ts'

/**
 * As it is in tokens, to the letter: many issuers are no URLs. A # comes between it and the subject in
 * svc-identity, so that with one in it, two people could be called alike.
 */
const issuer = matching(
  /^[!"$-~]{1,2000}$/,
  'must be what iss of the tokens is, without a #, such as https://id.example/',
)
const audience = matching(
  /^[!-~]{1,2000}$/,
  'must be what aud of the tokens has, such as https://api.example',
)
const claimName = matching(/^[!-~]{1,500}$/, 'must be the name of a claim, such as sub')

const keySetRule =
  'must be the https URL of a key set, or http on loopback, such as https://id.example/jwks.json'

const keySetUrl = urlOf(keySetRule, isPrivateEnough)

const authorizerUrl = urlOf(
  'must be the https URL of an authorizer, or http with allow_networks, such as https://auth.example/verify',
  () => true,
)

/** Accepts a URL that is asked for more than a page. */
function urlOf(rule: string, isAllowed: (url: URL) => boolean): Rule<string> {
  return formed(read, { pattern: httpScheme, rule })

  function read(text: string): Reading<string> {
    const url = /^https?:\/\/[!-~]{1,2000}$/i.test(text) && !/[#@\\]/.test(text) ? URL.parse(text) : null
    return accept(url !== null && isAllowed(url) ? url.href : undefined, rule)
  }
}

function isPrivateEnough(url: URL): boolean {
  return url.protocol === 'https:' || isLoopback(hostIn(url))
}

function hostIn({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}

const endOpen = optional(scalar(truth), false)
const fields = optional(dictionary(fieldName, placed(scalar(claimName))), new Map<string, never>())

const jwt = mapping({
  issuer: required(scalar(issuer)),
  audience: required(oneOrMore(scalar(audience), { min: 1 })),
  keys: required(placed(scalar(keySetUrl))),
  ca: optional(scalar(certificates, { unprinted: true }), null),
  allow_networks: optional(list(scalar(network)), []),
  algorithms: optional(oneOrMore(scalar(oneOf(...jwtAlgorithms)), { min: 1 }), jwtAlgorithms),
  when: optional(claimCondition(), null),
  fields,
  forward_token: optional(scalar(truth), false),
})

const domainRule = 'must be the domain of e-mail addresses, such as example.com'

const keptFields = ['authorization', 'cookie', 'accept'] as const

const forward = mapping({
  url: required(placed(scalar(authorizerUrl))),
  ca: optional(scalar(certificates, { unprinted: true }), null),
  allow_networks: optional(list(scalar(network)), []),
  timeout: optional(scalar(duration(10, minute)), 5 * second),
  concurrency: optional(scalar(whole(1, 10_000)), 100),
  send: optional(oneOrMore(scalar(settableHeader)), keptFields),
  copy: optional(oneOrMore(placed(scalar(fieldName))), []),
})

export const scopeName = matching(/^[!-~]{1,200}$/, 'must be one of scopes, such as orders.read')
const clientId = matching(/^[0-9a-f]{32}$/, 'must be the id of an OAuth client: 32 lower-case hex digits')

const token = mapping({
  permission: optional(scalar(oneOf(...permissionNames)), null),
  scopes: optional(oneOrMore(placed(scalar(scopeName)), { min: 1 }), null),
  server: optional(placed(scalar(clientId)), null),
  fields,
  end_open: endOpen,
})

/** Accepts a field that gates may set: not one that clients need for other purposes. */
function fieldName(text: string): Reading<string> {
  const reading = settableHeader(text)
  if ('flaw' in reading) return reading
  return accept(
    taken.has(text.toLowerCase().replace(/[^a-z0-9]/g, '-')) ? undefined : text,
    'is a header of its own meaning: choose a name such as X-User',
  )
}

const taken: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'authorization',
  'content-encoding',
  'content-type',
  'cookie',
  'date',
  'range',
])

const domain = formed(
  text => accept(/^(?:[a-z0-9-]+\.)+[a-z0-9-]+$/i.test(text) ? text.toLowerCase() : undefined, domainRule),
  { rule: domainRule },
)

const signIn = mapping({
  members_of: optional(oneOrMore(scalar(accountId), { min: 1 }), []),
  roles: optional(placed(oneOrMore(scalar(oneOf(...roleNames)), { min: 1 })), null),
  email_domains: optional(oneOrMore(scalar(domain), { min: 1 }), []),
  when: optional(placed(claimCondition()), null),
  fields,
  end_open: endOpen,
})

const gate = mapping({
  jwt: optional(placed(jwt), null),
  forward: optional(placed(forward), null),
  token: optional(placed(token), null),
  sign_in: optional(placed(signIn), null),
})

/** Off, or one gate, or several of which one must let a request in. */
export const protect = wordOr('off', mappingOrList(placed(gate)))

/** Of the token itself. */
const registeredClaims: ReadonlySet<string> = new Set(['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti'])

/** Null for origins that are told nothing. */
export const identity = switched(
  mapping({
    issuer: optional(scalar(issuer), null), // null: https at the first host of the zone
    claims: optional(list(placed(scalar(claimName))), []),
  }),
)

/** The zone to which the setting belongs. */
interface OfIdentity {
  readonly name: string
  readonly hosts: readonly string[]
  readonly routes: readonly { readonly protect: ProtectConfig | null }[]
}

/** Returns what svc-identity has; null if origins get none. */
export function resolveIdentity(
  setting: Placed<Value<typeof identity>> | null,
  { name, hosts, routes }: OfIdentity,
  findings: Findings,
): IdentityConfig | null {
  if (setting === null || setting.value === null) return null
  const { value, ...place } = setting
  const { claims } = value
  for (const claim of claims)
    if (registeredClaims.has(claim.value)) findings.flaw(claim, 'is a claim that svc-identity has anyway')
  refuseRepeats(claims, 'a claim can be listed only once', findings)
  if (routes.every(({ protect }) => protect === null))
    findings.flaw(place, 'needs a gate: set protect for the zone or a route')
  const host = hosts.find(host => !host.startsWith('*'))
  if (value.issuer === null && host === undefined && !findings.concern(stepInto(place.path, 'issuer')))
    findings.flaw(place, 'needs an issuer, since the zone has no host that is not a wildcard')
  const authority = host?.includes(':') ? `[${host}]` : host
  const issuer = value.issuer ?? `https://${authority}`
  return { issuer, audience: name, claims: claims.map(({ value }) => value) }
}

/** What gates take from their zone and the file. */
interface OfGates {
  readonly account: string | null
  /** Those that the operator defines. */
  readonly scopes: readonly string[]
}

/** Returns the gates; null for an open route, which only off makes. */
export function resolveProtect(
  setting: Placed<Value<typeof protect>> | null,
  zone: OfGates,
  findings: Findings,
): ProtectConfig | null {
  if (setting === null || setting.value === null) return null
  return setting.value.flatMap(({ value, ...place }) => resolveGate(value, place, zone, findings))
}

function resolveGate(
  setting: Value<typeof gate>,
  place: Place,
  zone: OfGates,
  findings: Findings,
): GateConfig[] {
  const { jwt, forward, token, sign_in: signIn } = setting
  if (Object.values(setting).filter(gate => gate !== null).length > 1)
    findings.flaw(place, 'has several gates: make each an item of a list')
  if (jwt !== null) return resolveJwt(jwt.value, findings)
  if (forward !== null) return resolveForward(forward.value, findings)
  if (token !== null) return resolveToken(token, zone, findings)
  if (signIn !== null) return resolveSignIn(signIn, findings)
  if (!findings.concern(place.path)) findings.flaw(place, 'must have a gate: jwt, forward, token or sign_in')
  return []
}

function resolveToken(
  { value, ...place }: Placed<Value<typeof token>>,
  { account, scopes: known }: OfGates,
  findings: Findings,
): TokenGateConfig[] {
  const { permission, scopes, server, end_open: endsOpen } = value
  const fields = resolveFields(value.fields, findings)
  const isUnclear = ['permission', 'scopes'].some(key => findings.concern(stepInto(place.path, key)))
  if ((permission === null) === (scopes === null) && !isUnclear)
    findings.flaw(place, 'must have either the permission of an API token or the scopes of an access token')
  if (scopes !== null) {
    for (const scope of scopes) refuseUnknown(scope, known, 'a scope', findings)
    refuseRepeats(scopes, 'a scope can be listed only once', findings)
    const accepts = { scopes: scopes.map(({ value }) => value), server: server?.value ?? null, account }
    return [{ kind: 'token', accepts, fields, endsOpen }]
  }
  if (server !== null) findings.flaw(server, 'is for access tokens: set scopes')
  if (permission !== null && account === null)
    findings.flaw(place, 'needs to know whose tokens have the permission: set account in the zone')
  return permission === null || account === null
    ? []
    : [{ kind: 'token', accepts: { permission, account }, fields, endsOpen }]
}

function resolveSignIn(
  { value, path }: Placed<Value<typeof signIn>>,
  findings: Findings,
): SignInGateConfig[] {
  const { members_of: accounts, roles, email_domains: domains, when, fields } = value
  const isUnclear = ['roles', 'members_of'].some(key => findings.concern(stepInto(path, key)))
  // Whoever may found an account has every role in it.
  if (roles !== null && accounts.length === 0 && !isUnclear)
    findings.flaw(roles, 'must come with members_of, the accounts in which they count')
  if (when !== null) refuseUnknownRoles(when, findings)
  return [
    {
      ...{ kind: 'sign_in', accounts, roles: roles?.value ?? [], domains },
      ...{ condition: when?.value.text ?? null, fields: resolveFields(fields, findings) },
      endsOpen: value.end_open,
    },
  ]
}

/** A condition on a role that does not exist holds for nobody, or for all. */
export function refuseUnknownRoles(when: Placed<{ readonly text: string }>, findings: Findings): void {
  const named = when.value.text.matchAll(/["']([^"'\\]*)["']\s*in\s+claims\.roles\b/g)
  const roles: readonly string[] = roleNames
  const unknown = named.map(([, name = '']) => name).find(name => !roles.includes(name))
  if (unknown === undefined) return
  const hint = didYouMean(unknown, roles)
  findings.flaw(when, `must compare claims.roles with roles (${roles.join(', ')}); got ${when.shown}${hint}`)
}

function resolveForward(settings: Value<typeof forward>, findings: Findings): ForwardGateConfig[] {
  const { url, ca, timeout, concurrency, send, copy, allow_networks: networks } = settings
  const names = copy.map(name => ({ ...name, value: name.value.toLowerCase() }))
  refuseRepeats(names, 'a header can be copied only once, whatever its case', findings)
  if (url === null) return []
  refuseProhibited(url, networks, findings)
  if (networks.length === 0 && !isPrivateEnough(new URL(url.value)))
    findings.flaw(url, 'must use https, or be in a network of your own that allow_networks lists')
  return [
    {
      kind: 'forward',
      url: url.value,
      ca,
      networks,
      timeout,
      concurrency,
      send: send.map(name => name.toLowerCase()),
      copy: copy.map(({ value }) => value),
    },
  ]
}

function resolveJwt(settings: Value<typeof jwt>, findings: Findings): JwtGateConfig[] {
  const { issuer, audience, keys, ca, algorithms, when, allow_networks: networks } = settings
  const fields = resolveFields(settings.fields, findings)
  if (keys !== null) refuseProhibited(keys, networks, findings)
  if (issuer === null || audience === null || keys === null) return []
  return [
    {
      kind: 'jwt',
      issuer,
      audiences: audience,
      keys: keys.value,
      ca,
      networks,
      algorithms,
      condition: when?.text ?? null,
      fields,
      forwardToken: settings.forward_token,
    },
  ]
}

function resolveFields(fields: Value<typeof jwt>['fields'], findings: Findings): ClaimField[] {
  const claims = [...fields].flatMap(([name, claim]) => (claim === null ? [] : { name, ...claim }))
  const names = claims.map(({ name, ...claim }) => ({ ...claim, value: name.toLowerCase() }))
  refuseRepeats(names, 'a header can be set only once, whatever its case', findings)
  return claims.map(({ name, value }) => ({ name, claim: value }))
}

/** Names are checked when they are resolved. */
function refuseProhibited(url: Placed<string>, networks: readonly string[], findings: Findings): void {
  const host = hostIn(new URL(url.value))
  if (isIP(host) === 0 || isPublic(host) || new AddressSet(networks).has(host)) return
  const setting = stepInto(url.path.slice(0, url.path.lastIndexOf('.')), 'allow_networks')
  findings.flaw(url, `has an address that is not on the public Internet: list it in ${setting}`)
}
