// The settings of the authorization server, and of sign-in.

import { day, hour, second } from '../../base/units.ts'
import { reservedScopes, type ScopeConfig } from '../model/scope-config.ts'
import { type GroupsConfig, type OAuthConfig, type PeopleConfig, rolesOfGroups } from '../model/config.ts'
import type { Findings } from '../file/mistake.ts'
import { camel } from '../shape/camel.ts'
import { documentHost, issuerUrl, openidIssuer } from '../shape/host-rules.ts'
import { accept, accountId, duration, lineOfText, matching, network, oneOf, whole } from '../shape/rules.ts'
import {
  dictionary,
  formed,
  group,
  list,
  mapping,
  optional,
  placed,
  required,
  type Rule,
  scalar,
  unwritten,
  type Value,
} from '../shape/shape.ts'

/** They may only be shortened. */
const maxLifetimes = { code: 60 * second, access: hour, refresh: 30 * day, consent: 180 * day }

const visible = matching(/^[!-~]{1,4096}$/, 'must be up to 4096 visible ASCII characters, without spaces')

export const oauth = group({
  issuer: optional(placed(scalar(issuerUrl)), null), // null: the side port, where that is on loopback
  lifetimes: group({
    code: optional(scalar(duration(second, maxLifetimes.code)), maxLifetimes.code),
    access_token: optional(scalar(duration(second, maxLifetimes.access)), maxLifetimes.access),
    refresh_token: optional(
      placed(scalar(duration(second, maxLifetimes.refresh))),
      unwritten('oauth.lifetimes.refresh_token', maxLifetimes.refresh),
    ),
    refresh_token_most: optional(scalar(duration(second, maxLifetimes.consent)), maxLifetimes.consent),
  }),
  client_id_metadata_documents: group({
    hosts: optional(list(scalar(documentHost)), []),
    max_clients: optional(scalar(whole(1, 100_000)), 1_000),
    allow_networks: optional(list(scalar(network)), []),
  }),
})

const guid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

const tenantId: Rule<string> = text =>
  accept(
    guid.test(text) ? text.toLowerCase() : undefined,
    'must be the id of a tenant, such as 2d1f1d4e-3c5a-4b8e-9f60-0a1b2c3d4e5f',
  )

const scopeToken = matching(/^[!#-[\]-~]{1,256}$/, 'must be one scope')

const groups = mapping({
  claim: optional(scalar(lineOfText(256)), 'groups'),
  scope: optional(scalar(scopeToken), null),
  roles: required(
    list(
      mapping({
        group: required(scalar(lineOfText(256))),
        role: required(scalar(oneOf(...rolesOfGroups))),
        account: optional(scalar(accountId), null), // null: the oldest
      }),
      { min: 1 },
    ),
  ),
})

// Unprinted, since a secret may have been written in place of the mapping.
const openid = mapping(
  {
    issuer: required(scalar(openidIssuer)),
    client_id: required(scalar(visible)),
    client_secret: required(scalar(visible, { unprinted: true })),
    tenants: optional(list(scalar(tenantId), { min: 1 }), null), // null: those of the issuer
    groups: optional(groups, null),
  },
  { unprinted: true },
)

export const people = group({
  sign_up: optional(
    placed(scalar(oneOf('invited', 'openid', 'open'))),
    unwritten('people.sign_up', 'invited' as const),
  ),
  openid: optional(placed(openid), null),
})

export function resolveOAuth(
  { issuer, lifetimes, client_id_metadata_documents: documents }: Value<typeof oauth.shape>,
  findings: Findings,
): OAuthConfig {
  const { refresh_token: idle, refresh_token_most: maxLifetime } = lifetimes
  if (idle.line > 0 && idle.value > maxLifetime)
    findings.flaw(idle, 'must not be longer than refresh_token_most')
  const refreshToken = Math.min(idle.value, maxLifetime)
  return {
    issuer: issuer?.value ?? null,
    lifetimes: { ...camel(lifetimes), refreshToken },
    clientIdMetadataDocuments: camel(documents),
  }
}

export function resolvePeople(
  { sign_up, openid }: Value<typeof people.shape>,
  findings: Findings,
): PeopleConfig {
  if (sign_up.value === 'openid' && openid === null && !findings.concern('people.openid'))
    findings.flaw(sign_up, 'requires people.openid')
  const {
    issuer,
    client_id: clientId,
    client_secret: clientSecret,
    tenants,
    groups,
  } = openid?.value ?? noOpenId
  if (openid !== null && issuer !== null && tenants === null && servesEveryTenant(issuer))
    findings.flaw(openid, 'requires tenants, since people of every tenant sign in at this issuer')
  if (openid !== null && groups !== null && tenants !== null && tenants.length > 1)
    findings.flaw(openid, 'cannot have groups with several tenants, since each names its groups as it likes')
  const isWhole = issuer !== null && clientId !== null && clientSecret !== null
  const openIdConfig = isWhole
    ? { issuer, clientId, clientSecret, tenants, groups: groups && resolveGroups(groups) }
    : null
  return { signUp: sign_up.value, openid: openIdConfig }
}

/** Leaves out roles with mistakes, with which no configuration takes effect. */
function resolveGroups({ claim, scope, roles }: Value<typeof groups>): GroupsConfig {
  const whole = (roles ?? []).flatMap(({ group, role, account }) =>
    group === null || role === null ? [] : [{ group, role, account }],
  )
  return { claim, scope, roles: whole }
}

const noOpenId = { issuer: null, client_id: null, client_secret: null, tenants: null, groups: null }

/** Whether an issuer of Entra ID is the common one of all tenants. */
function servesEveryTenant(issuer: string): boolean {
  return /^\/(?:common|organizations)\/v2\.0\/?$/.test(new URL(issuer).pathname)
}

const scopePattern = /^[a-z][a-z0-9_]{0,30}(?:\.[a-z][a-z0-9_]{0,30}){1,3}$/

const scopeId = formed(
  text => {
    if (reservedScopes.includes(text.split('.', 1)[0]!))
      return { flaw: 'begins like scopes of Gatehouse: choose another first part, such as orders.read' }
    return accept(
      scopePattern.test(text) ? text : undefined,
      'must have two to four parts with dots between, such as orders.read',
    )
  },
  { pattern: scopePattern.source },
)

const sentence = matching(
  /^[ -~\u00a0-\ud7ff\uf900-\ufffd]{3,200}$/u,
  'must be one sentence of 3 to 200 characters, such as See your orders.',
)

export const scopes = optional(dictionary(scopeId, scalar(sentence)), new Map<string, never>())

export function resolveScopes(settings: ReadonlyMap<string, string | null>): readonly ScopeConfig[] {
  return [...settings].flatMap(([id, description]) => (description === null ? [] : { id, description }))
}
